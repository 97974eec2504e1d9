import { OBJECTS } from './areas.ts';
import { recordedBehaviour } from './contract-suite.ts';

recordedBehaviour(OBJECTS);
