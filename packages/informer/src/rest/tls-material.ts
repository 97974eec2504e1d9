// Certificates and keys as configurations give them, and as Node's TLS takes them.

/** PEM texts as the TLS stack takes them. */
export interface TlsMaterial {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Name to verify instead of the host of the URL. */
  readonly serverName?: string | undefined;
  /** @defaultValue false */
  readonly insecureSkipTlsVerify?: boolean | undefined;
}

/** Asked before every request; another object than last time means that certificates have changed. */
export type TlsSource = () => TlsMaterial | Promise<TlsMaterial>;

export interface NodeTlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

/** Leaves out what is not given: to Node an undefined `ca` is not the same as none. */
export function nodeTlsOptions(material: TlsMaterial): NodeTlsOptions {
  return {
    rejectUnauthorized: material.insecureSkipTlsVerify !== true,
    ...(material.ca === undefined ? {} : { ca: material.ca }),
    ...(material.cert === undefined ? {} : { cert: material.cert }),
    ...(material.key === undefined ? {} : { key: material.key }),
    ...(material.serverName === undefined ? {} : { servername: material.serverName }),
  };
}
