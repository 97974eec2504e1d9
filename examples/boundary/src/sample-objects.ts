// Types of the objects this example writes itself; all others come from manifests and stay untyped.

export interface ConfigMapObject {
  readonly apiVersion?: 'v1';
  readonly kind?: 'ConfigMap';
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}
