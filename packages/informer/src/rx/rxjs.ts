// The classes of RxJS that are made here. Its main entry loads two hundred modules, which is half the time that importing this package
// would take; these are the same classes, by the paths its exports map offers.
export { BehaviorSubject } from 'rxjs/internal/BehaviorSubject';
export { Observable } from 'rxjs/internal/Observable';
export { combineLatest } from 'rxjs/internal/observable/combineLatest';
export { map } from 'rxjs/internal/operators/map';
export { Subject } from 'rxjs/internal/Subject';
