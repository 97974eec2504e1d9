// The v2 document in the protobuf form that older discovery clients ask for.
// Upstream: google/gnostic-models@v0.6.8:openapiv2/OpenAPIv2.proto
import { BackwardWriter } from '../protobuf/backward-writer.ts';
import type { Swagger, SwaggerOperation, SwaggerParameter } from './render-v2.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Writes the fields of a message, the highest number first. */
class GnosticWriter {
  readonly writer = new BackwardWriter(1 << 20);

  message(id: number, content: () => void): void {
    const mark = this.writer.length;
    content();
    this.writer.delimited(id, mark);
  }

  text(id: number, value: unknown): void {
    if (typeof value !== 'string' || value === '') return;
    const mark = this.writer.length;
    this.writer.string(value);
    this.writer.delimited(id, mark);
  }

  flag(id: number, value: unknown): void {
    if (value !== true) return;
    this.writer.varint(1);
    this.writer.tag(id, 0);
  }

  integer(id: number, value: unknown): void {
    if (typeof value !== 'number') return;
    this.writer.varint(value);
    this.writer.tag(id, 0);
  }

  double(id: number, value: unknown): void {
    if (typeof value !== 'number') return;
    this.writer.double(value);
    this.writer.tag(id, 1);
  }

  texts(id: number, values: unknown): void {
    if (Array.isArray(values)) this.backwards(values, (value) => this.text(id, value));
  }

  backwards<T>(values: readonly T[], write: (value: T) => void): void {
    for (let index = values.length - 1; index >= 0; index--) write(values[index]!);
  }

  /** A list of name and value pairs, each of them a message. */
  named(id: number, object: object, write: (value: unknown) => void): void {
    this.backwards(Object.entries(object), ([name, value]) =>
      this.message(id, () => {
        this.message(2, () => write(value));
        this.text(1, name);
      }),
    );
  }

  /** Extensions carry their values as YAML, of which JSON is a part. */
  extensions(id: number, object: object): void {
    const found = Object.entries(object).filter(([name]) => name.startsWith('x-'));
    this.named(id, Object.fromEntries(found), (value) => this.text(2, `${JSON.stringify(value)}\n`));
  }
}

export function encodeSwagger(document: Swagger): Buffer {
  const out = new GnosticWriter();
  // security (12) and securityDefinitions (13) are the same for every server.
  out.message(13, () =>
    out.named(1, document.securityDefinitions, (value) => out.message(2, () => apiKey(out, value as Fields))),
  );
  out.message(9, () => out.named(1, document.definitions, (value) => schema(out, value as Fields)));
  out.message(8, () => out.named(2, document.paths, (value) => pathItem(out, value as Fields)));
  out.message(2, () => {
    out.text(2, document.info.version);
    out.text(1, document.info.title);
  });
  out.text(1, document.swagger);
  return out.writer.finish();
}

function apiKey(out: GnosticWriter, value: Fields): void {
  out.text(4, value['description']);
  out.text(3, value['in']);
  out.text(2, value['name']);
  out.text(1, value['type']);
}

const METHODS: readonly (readonly [method: string, id: number])[] = [
  ['patch', 8],
  ['delete', 5],
  ['post', 4],
  ['put', 3],
  ['get', 2],
];

function pathItem(out: GnosticWriter, item: Fields): void {
  const { parameters } = item;
  if (Array.isArray(parameters)) out.backwards(parameters as SwaggerParameter[], (one) => parameter(out, 9, one));
  for (const [method, id] of METHODS) {
    const found = item[method];
    if (found !== undefined) out.message(id, () => operation(out, found as SwaggerOperation));
  }
}

function operation(out: GnosticWriter, value: SwaggerOperation): void {
  out.extensions(13, value);
  out.texts(10, value.schemes);
  out.message(9, () =>
    out.named(1, value.responses, (response) =>
      // ResponseValue.response
      out.message(1, () => {
        const { description, schema: answer } = response as Fields;
        // SchemaItem.schema
        if (answer !== undefined) out.message(2, () => out.message(1, () => schema(out, answer as Fields)));
        out.text(1, description);
      }),
    ),
  );
  out.backwards(value.parameters ?? [], (one) => parameter(out, 8, one));
  out.texts(7, value.consumes);
  out.texts(6, value.produces);
  out.text(5, value.operationId);
  out.texts(1, value.tags);
}

/** ParametersItem.parameter, then one of body, query and path. */
function parameter(out: GnosticWriter, id: number, value: SwaggerParameter): void {
  out.message(id, () =>
    out.message(1, () => {
      if (value.in === 'body') out.message(1, () => bodyParameter(out, value));
      else if (value.in === 'query') out.message(2, () => out.message(3, () => queryParameter(out, value)));
      else out.message(2, () => out.message(4, () => pathParameter(out, value)));
    }),
  );
}

function bodyParameter(out: GnosticWriter, value: SwaggerParameter): void {
  out.message(5, () => schema(out, (value.schema ?? {}) as Fields));
  out.flag(4, value.required);
  out.text(3, value.in);
  out.text(2, value.name);
}

function queryParameter(out: GnosticWriter, value: SwaggerParameter): void {
  out.flag(20, value.uniqueItems);
  out.text(6, value.type);
  out.text(4, value.name);
  out.text(2, value.in);
  out.flag(1, value.required);
}

function pathParameter(out: GnosticWriter, value: SwaggerParameter): void {
  out.flag(19, value.uniqueItems);
  out.text(5, value.type);
  out.text(4, value.name);
  out.text(2, value.in);
  out.flag(1, value.required);
}

function schema(out: GnosticWriter, value: Fields): void {
  out.extensions(31, value);
  const { properties, items, type, additionalProperties } = value;
  if (properties !== undefined) {
    out.message(25, () => out.named(1, properties as object, (one) => schema(out, one as Fields)));
  }
  if (items !== undefined) out.message(23, () => out.message(1, () => schema(out, items as Fields)));
  if (type !== undefined) out.message(22, () => out.text(1, type));
  if (additionalProperties === true) out.message(21, () => out.flag(2, true));
  else if (typeof additionalProperties === 'object' && additionalProperties !== null) {
    out.message(21, () => out.message(1, () => schema(out, additionalProperties as Fields)));
  }
  out.texts(19, value['required']);
  out.integer(15, value['minItems']);
  out.integer(14, value['maxItems']);
  out.text(13, value['pattern']);
  out.integer(12, value['minLength']);
  out.integer(11, value['maxLength']);
  out.double(9, value['minimum']);
  out.double(7, value['maximum']);
  out.text(4, value['description']);
  out.text(3, value['title']);
  out.text(2, value['format']);
  out.text(1, value['$ref']);
}
