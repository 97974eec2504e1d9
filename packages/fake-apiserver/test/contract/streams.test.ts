import { STREAMS } from './areas.ts';
import { recordedBehaviour } from './contract-suite.ts';

recordedBehaviour(STREAMS);
