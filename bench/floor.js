// The least a client on Node does, measured from outside; see src/floor-program.ts.
import './dist/floor-program.js';
