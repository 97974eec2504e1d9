// A server in this process, from the call to ready.
import { startFakeApiServer } from '@kube-rx/fake-apiserver';
import { median } from '../figures.ts';

const RUNS = 7;

export async function startInProcessMs(): Promise<number> {
  const samples: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const startedAt = performance.now();
    await using server = await startFakeApiServer({ insecure: true });
    samples.push(performance.now() - startedAt);
    await server.fetch('/readyz');
  }
  return median(samples);
}
