// How strict the check of a schema node is, which depends on where the node is.

export interface SchemaRules {
  readonly allowDefaults: boolean;
  readonly disallowDefaultsReason: string;
  readonly requireValidPropertyType: boolean;
  readonly requireAtomicSetType: boolean;
  readonly requireMapListKeysMapSetValidation: boolean;
  readonly suppressPerExpressionCost: boolean;
  readonly insideResourceMeta: boolean;
  /** The first ancestor whose parts cannot be found again in the old object. */
  readonly uncorrelatablePath: string | undefined;
}
