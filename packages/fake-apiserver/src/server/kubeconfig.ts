// A kubeconfig for this server, readable by its owner only.
import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { goQuote } from '@kube-rx/apimachinery';

export interface KubeconfigOptions {
  readonly url: string;
  readonly token: string;
  /** PEM; absent for plain HTTP. */
  readonly ca?: string | undefined;
  /** Name of cluster, user and context. Default `fake`. */
  readonly name?: string | undefined;
}

export function kubeconfigText({ url, token, ca, name = 'fake' }: KubeconfigOptions): string {
  const lines = [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${goQuote(name)}`,
    '  cluster:',
    `    server: ${goQuote(url)}`,
    ...(ca === undefined ? [] : [`    certificate-authority-data: ${Buffer.from(ca).toString('base64')}`]),
    'users:',
    `- name: ${goQuote(name)}`,
    '  user:',
    `    token: ${goQuote(token)}`,
    'contexts:',
    `- name: ${goQuote(name)}`,
    '  context:',
    `    cluster: ${goQuote(name)}`,
    `    user: ${goQuote(name)}`,
    `current-context: ${goQuote(name)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Replaces the file in one step, mode 0600. Throws the system's error. */
export function writeKubeconfig(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}
