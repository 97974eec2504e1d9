// What OpenAPI does not say about the Go structs behind the API: field order, pointers, omitempty. They decide which zero values an
// answer shows, and the words of decoding errors.
import { type DataProfile, loadOnce, readOptionalData } from './profile-data.ts';

export interface GoField {
  /** Name in JSON. */
  readonly name: string;
  /** As Go's `reflect.Type.String()` prints it, e.g. `*int32`, `[]v1.Container`, `v1.Protocol`. */
  readonly type: string;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  /** `omitzero` of newer versions: a zero struct is left out. */
  readonly omitZero: boolean;
}

export interface GoStruct {
  /** Bare type name, e.g. `PodSpec`. */
  readonly name: string;
  /** In declaration order, embedded structs dissolved. */
  readonly fields: readonly GoField[];
}

/** One line of go-types.json: `NAME:TYPE[:o][:z];...`. */
function parse(schemaName: string, text: string): GoStruct {
  const fields = text.split(';').map((entry): GoField => {
    const [name = '', type = '', ...flags] = entry.split(':');
    return {
      name,
      type,
      pointer: type.startsWith('*'),
      omitEmpty: flags.includes('o'),
      omitZero: flags.includes('z'),
    };
  });
  return {
    name: schemaName.slice(schemaName.lastIndexOf('.') + 1),
    fields,
  };
}

/** Looks structs up by schema name; each is parsed once per process. */
export function loadGoTypes(profile: DataProfile): (schemaName: string) => GoStruct | undefined {
  return loadOnce(profile, 'go-types', () => {
    const raw = readOptionalData<Record<string, string>>(profile, 'go-types.json') ?? {};
    const parsed = new Map<string, GoStruct>();
    return (schemaName: string): GoStruct | undefined => {
      const known = parsed.get(schemaName);
      if (known !== undefined || !Object.hasOwn(raw, schemaName)) return known;
      const struct = parse(schemaName, raw[schemaName]!);
      parsed.set(schemaName, struct);
      return struct;
    };
  });
}
