// A client for a server that is named by URL or by kubeconfig.
import { readFileSync } from 'node:fs';
import { type ConnectedClient, createClient, isConfigError, loadKubeconfig } from '@kube-rx/informer';
import { messageOf } from './api-error.ts';
import { type ClusterOptions, UsageError } from './options.ts';

/** The cluster that the user named on the command line. */
export async function connectTo(options: ClusterOptions): Promise<ConnectedClient> {
  const { server, token, certificateAuthority, insecureSkipTlsVerify, kubeconfig: path, context } = options;
  if (server !== undefined) {
    const ca = certificateAuthority === undefined ? undefined : readAuthority(certificateAuthority);
    return createClient({ server: server.replace(/\/+$/, ''), token, ca, insecureSkipTlsVerify });
  }
  try {
    return createClient(await loadKubeconfig({ path, context }));
  } catch (error) {
    if (isConfigError(error)) throw new UsageError(messageOf(error), { cause: error });
    throw error;
  }
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--certificate-authority: cannot read ${file}`, { cause: error });
  }
}
