// One informer in a process of its own, measured from outside; see src/informer-program.ts.
import './dist/informer-program.js';
