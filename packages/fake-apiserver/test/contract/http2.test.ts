import { OVER_HTTP2 } from './areas.ts';
import { recordedBehaviour } from './contract-suite.ts';

recordedBehaviour(OVER_HTTP2, '2');
