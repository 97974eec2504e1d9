// Which objects a list or watch wants.
// Upstream: apiserver@v0.30.3:pkg/storage/selection_predicate.go
import type { FieldSelector, LabelSelector, StringSet } from '@kube-rx/apimachinery';
import type { ApiObject } from './api-object.ts';

/** Labels and selectable fields of an object, as its kind defines them. */
export interface ObjectAttributes {
  readonly labels: StringSet | undefined;
  readonly fields: StringSet;
}
export type AttributesFunc = (object: ApiObject) => ObjectAttributes;

export interface SelectionPredicate {
  readonly label: LabelSelector;
  readonly field: FieldSelector;
  readonly getAttributes: AttributesFunc;
  /** 0 means no limit. */
  readonly limit: number;
  readonly continue: string;
  readonly allowWatchBookmarks: boolean;
}

export function predicateIsEmpty(predicate: SelectionPredicate): boolean {
  return predicate.label.empty && predicate.field.empty;
}

/** Both selectors on attributes that were computed before. */
export function matchesAttributes(predicate: SelectionPredicate, attributes: ObjectAttributes): boolean {
  return predicate.label.matches(attributes.labels) && predicate.field.matches(attributes.fields);
}

export function matchesObject(predicate: SelectionPredicate, object: ApiObject): boolean {
  if (predicateIsEmpty(predicate)) return true;
  return matchesAttributes(predicate, predicate.getAttributes(object));
}

/** The name a field selector pins the result to, undefined when it does not. */
export function matchesSingle(predicate: SelectionPredicate): string | undefined {
  if (predicate.continue !== '') return undefined;
  return predicate.field.requiresExactMatch('metadata.name');
}
