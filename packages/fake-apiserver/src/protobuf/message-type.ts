// A protobuf message joined with the JSON and Go side of its type.
import { type GoStructField, type GoType, goTypeOf } from '../schema/go-type.ts';
import { type DataProfile, loadOnce, readData } from '../schema/profile-data.ts';
import { loadSchemaRegistry } from '../schema/schema-registry.ts';

export type ScalarType = 'string' | 'int' | 'bool' | 'bytes' | 'double';

const SCALARS: ReadonlySet<string> = new Set<ScalarType>(['string', 'int', 'bool', 'bytes', 'double']);

/** How a message is read and written: by its fields, or as the scalar that JSON has for it. */
export type MessageForm =
  | 'fields'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'rawJson'
  | 'schemaOrBool'
  | 'schemaOrArray'
  | 'schemaOrStrings';

export interface MessageField {
  readonly id: number;
  /** Name in JSON; '' for an embedded struct, whose fields JSON has in the parent. */
  readonly json: string;
  readonly rule: 'single' | 'repeated' | 'map';
  readonly scalar: ScalarType | undefined;
  /** Undefined for scalars. */
  readonly message: MessageType | undefined;
  /** Written also when it is zero or absent: not a pointer in Go. */
  readonly always: boolean;
  /** A list in JSON, a message with one repeated field here. */
  readonly listMessage: boolean;
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

const FORMS: ReadonlyMap<string, MessageForm> = new Map([
  [`${META}.Time`, 'time'],
  [`${META}.MicroTime`, 'microTime'],
  [`${META}.Duration`, 'duration'],
  [`${META}.FieldsV1`, 'rawJson'],
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'quantity'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'intOrString'],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'rawJson'],
  [`${EXTENSIONS}.JSON`, 'rawJson'],
  [`${EXTENSIONS}.JSONSchemaPropsOrBool`, 'schemaOrBool'],
  [`${EXTENSIONS}.JSONSchemaPropsOrArray`, 'schemaOrArray'],
  [`${EXTENSIONS}.JSONSchemaPropsOrStringArray`, 'schemaOrStrings'],
]);

/** Fields of the struct that JSON sees, by name; embedded structs look into their parent's. */
type Owner = ReadonlyMap<string, GoStructField>;

export class MessageType {
  readonly name: string;
  readonly form: MessageForm;
  readonly #text: string;
  readonly #registry: MessageRegistry;
  readonly #owner: Owner | undefined;
  #fields: readonly MessageField[] | undefined;
  #byId: ReadonlyMap<number, MessageField> | undefined;

  constructor(name: string, text: string, registry: MessageRegistry, owner: Owner | undefined) {
    this.name = name;
    this.form = FORMS.get(name) ?? 'fields';
    this.#text = text;
    this.#registry = registry;
    this.#owner = owner;
  }

  /** By ascending number. */
  get fields(): readonly MessageField[] {
    this.#fields ??= this.#text === '' ? [] : this.#text.split(';').map((entry) => this.#field(entry));
    return this.#fields;
  }

  byId(id: number): MessageField | undefined {
    this.#byId ??= new Map(this.fields.map((field) => [field.id, field]));
    return this.#byId.get(id);
  }

  #field(entry: string): MessageField {
    const [id = '', json = '', type = ''] = entry.split(':');
    const owner = this.#owner ?? this.#registry.goFields(this.name);
    const go: GoType | undefined = owner?.get(json)?.type;
    const bare = type.replace(/^(?:\[\]|\{\})/, '');
    const rule = type.startsWith('[]') ? 'repeated' : type.startsWith('{}') ? 'map' : 'single';
    const isScalar = SCALARS.has(bare);
    return {
      id: Number(id),
      json,
      rule,
      scalar: isScalar ? (bare as ScalarType) : undefined,
      message: isScalar ? undefined : this.#registry.get(bare, json === '' ? owner : undefined),
      always: rule === 'single' && (json === '' || (go !== undefined && !go.pointer && go.kind !== 'bytes')),
      listMessage: rule === 'single' && go?.kind === 'list',
    };
  }
}

export class MessageRegistry {
  readonly #profile: DataProfile;
  readonly #texts: Readonly<Record<string, string>>;
  readonly #types = new Map<string, MessageType>();

  constructor(profile: DataProfile) {
    this.#profile = profile;
    this.#texts = readData(profile, 'protobuf.json');
  }

  /** Messages of the recorded data; one nobody recorded has no fields. `owner` is for embedded structs only. */
  get(name: string, owner?: Owner): MessageType {
    const text = Object.hasOwn(this.#texts, name) ? this.#texts[name]! : '';
    if (owner !== undefined) return new MessageType(name, text, this, owner);
    let type = this.#types.get(name);
    if (type === undefined) {
      type = new MessageType(name, text, this, undefined);
      this.#types.set(name, type);
    }
    return type;
  }

  goFields(name: string): Owner | undefined {
    const schema = loadSchemaRegistry(this.#profile).byName(name);
    return schema === undefined ? undefined : goTypeOf(schema)?.fields;
  }

  /** The message of a kind; undefined for kinds without one, such as custom ones and Table. */
  ofKind(group: string, version: string, kind: string): MessageType | undefined {
    if (kind.startsWith('PartialObjectMetadata') && group === 'meta.k8s.io') return this.get(`${META}.${kind}`);
    const name = loadSchemaRegistry(this.#profile).byKind(group, version, kind)?.name;
    return name !== undefined && Object.hasOwn(this.#texts, name) ? this.get(name) : undefined;
  }
}

/** The only profile whose field numbers were recorded; numbers never change, so it serves the others too. */
export const PROTOBUF_PROFILE: DataProfile = 'v1.30';

export function messageRegistry(): MessageRegistry {
  return loadOnce(PROTOBUF_PROFILE, 'message-registry', () => new MessageRegistry(PROTOBUF_PROFILE));
}
