// What the checks of a container know of the pod around it.

export interface ContainerScope {
  /** Names of the valid volumes of the pod. */
  readonly volumes: ReadonlySet<string>;
  readonly gracePeriodSeconds: number;
}
