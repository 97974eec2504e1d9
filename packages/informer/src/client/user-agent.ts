// What a client says of itself.
// Upstream: client-go@v0.30.3:rest/config.go#DefaultKubernetesUserAgent

export interface UserAgentOptions {
  /** Program in front of the slash. @defaultValue `kube-rx-informer` */
  readonly name?: string;
  /** Version of the program. @defaultValue `0` */
  readonly version?: string;
}

interface ProcessLike {
  readonly platform?: string;
  readonly arch?: string;
}

/** `web-operator/1.2 (linux/x64) kube-rx`; in a browser `web-operator/1.2 (browser) kube-rx`. */
export function userAgent(options: UserAgentOptions = {}): string {
  const { process } = globalThis as { process?: ProcessLike };
  const where = process?.platform === undefined ? 'browser' : `${process.platform}/${process.arch}`;
  return `${token(options.name ?? 'kube-rx-informer')}/${token(options.version ?? '0')} (${where}) kube-rx`;
}

/** Characters a header may not have would make every request fail. */
function token(text: string): string {
  const clean = text.replace(/[^\w.+-]+/g, '_');
  return clean === '' ? 'unknown' : clean;
}
