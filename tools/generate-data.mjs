#!/usr/bin/env node
// Turns recorded facts of a real API server into the compact data the fake server reads.
//
//   node tools/generate-data.mjs SCHEMA_DIR OUT_DIR [--go-modules DIR --go-version v0.30.3]
//
// SCHEMA_DIR holds schemas.json (OpenAPI v3 components), disc-api.json and disc-apis.json (aggregated discovery), table-columns.json
// and, optionally, protobuf-fields.json. With --go-modules (the folder of a Go module cache that holds k8s.io/api, apimachinery,
// apiextensions-apiserver and kube-aggregator in --go-version) it also writes what OpenAPI cannot say: the order, Go type and
// omitempty flag of each struct field, which decide what an answer looks like. Without it an existing go-types.json stays.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'go-modules': { type: 'string' }, 'go-version': { type: 'string' } },
});
const [schemaDir, outDir] = positionals;
if (schemaDir === undefined || outDir === undefined) {
  console.error('usage: generate-data.mjs SCHEMA_DIR OUT_DIR [--go-modules DIR --go-version VERSION]');
  process.exit(2);
}
if ((options['go-modules'] === undefined) !== (options['go-version'] === undefined)) {
  console.error('--go-modules and --go-version go together');
  process.exit(2);
}

const read = (name) => JSON.parse(readFileSync(join(schemaDir, name), 'utf8'));
const write = (name, value) => {
  const text = `${JSON.stringify(value)}\n`;
  writeFileSync(join(outDir, name), text);
  console.log(`${name} ${text.length} bytes`);
};
mkdirSync(outDir, { recursive: true });

const schemas = read('schemas.json');
const goTypes = options['go-modules'] === undefined ? undefined : readGoTypes();
write('schemas.json', schemas);
write('discovery.json', discovery());
write('table-columns.json', tableColumns());
if (goTypes !== undefined) write('go-types.json', compactGoTypes());
if (existsSync(join(schemaDir, 'protobuf-fields.json')) && goTypes !== undefined) write('protobuf.json', protobuf());

/** Groups in served order; a kind's group and version are only kept where they differ from the resource's. */
function discovery() {
  const groups = [];
  for (const file of ['disc-api.json', 'disc-apis.json']) {
    for (const group of read(file).items) {
      groups.push({
        name: group.metadata.name ?? '',
        versions: group.versions.map((version) => ({
          name: version.version,
          resources: version.resources.map((resource) => ({
            name: resource.resource,
            singular: resource.singularResource,
            ...kindOf(resource.responseKind),
            namespaced: resource.scope === 'Namespaced',
            verbs: resource.verbs,
            ...(resource.shortNames === undefined ? {} : { shortNames: resource.shortNames }),
            ...(resource.categories === undefined ? {} : { categories: resource.categories }),
            ...(resource.subresources === undefined
              ? {}
              : {
                  subresources: resource.subresources.map((subresource) => ({
                    name: subresource.subresource,
                    ...kindOf(subresource.responseKind),
                    verbs: subresource.verbs,
                  })),
                }),
          })),
        })),
      });
    }
  }
  return groups;
}

function kindOf({ group, version, kind }) {
  return { kind, ...(group === '' && version === '' ? {} : { kindGroup: group, kindVersion: version }) };
}

function tableColumns() {
  const out = {};
  for (const [path, columns] of Object.entries(read('table-columns.json'))) {
    out[path] = columns.map(({ name, type, format, priority, description }) =>
      description === undefined ? [name, type, format, priority] : [name, type, format, priority, description],
    );
  }
  return out;
}

/** The folder of a module's package for a schema name such as `io.k8s.api.core.v1.Pod`, and the type's name. */
function goPackageOf(schemaName) {
  const parts = schemaName.split('.');
  const type = parts.pop();
  const [, , module, ...path] = parts;
  return { module: `k8s.io/${module}`, path: path.join('/'), type };
}

function readGoTypes() {
  const packages = new Map();
  const load = (module, path) => {
    const key = `${module}/${path}`;
    let found = packages.get(key);
    if (found !== undefined) return found;
    found = new Map();
    packages.set(key, found);
    const dir = join(options['go-modules'], `${module}@${options['go-version']}`, path);
    if (!existsSync(dir)) return found;
    for (const file of readdirSync(dir).sort()) {
      if (!file.endsWith('.go') || file.endsWith('_test.go') || /generated|zz_/.test(file)) continue;
      parseGoFile(readFileSync(join(dir, file), 'utf8'), key, found);
    }
    return found;
  };
  const lookUp = (importPath, name) => {
    const match = /^(k8s\.io\/[^/]+)\/(.*)$/.exec(importPath);
    return match === null ? undefined : load(match[1], match[2]).get(name);
  };
  return { load, lookUp };
}

/** Reads the type declarations of one source file: structs with their fields, and named scalars, slices and maps. */
function parseGoFile(text, importPath, found) {
  const imports = new Map();
  for (const [, alias, path] of text.matchAll(/^(?:import )?\t?(\w+)?\s*"([\w./-]+)"$/gm)) {
    imports.set(alias ?? path.split('/').pop(), path);
  }
  const packageName = importPath.split('/').pop();
  const qualify = (type) =>
    type.replace(/(?<![\w.])(?:(\w+)\.)?([A-Za-z]\w*)/g, (whole, alias, name) => {
      if (alias !== undefined) return `${(imports.get(alias) ?? alias).split('/').pop()}.${name}`;
      return /^[A-Z]/.test(name) ? `${packageName}.${name}` : whole;
    });
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const declared = /^(?:type |\t)(\w+) (struct \{|=? ?[[\]\w.*]+)(\})?$/.exec(lines[at]);
    if (declared === null || !(lines[at].startsWith('type ') || declared[2] === 'struct {')) continue;
    const [, name, body] = declared;
    if (body !== 'struct {' || declared[3] !== undefined) {
      found.set(name, { underlying: body });
      continue;
    }
    const fields = [];
    for (at++; at < lines.length && !/^\t?\}/.test(lines[at]); at++) {
      const field = /^\t+(?:(\w+)\s+)?([[\]\w.*]+)\s+`([^`]*)`/.exec(lines[at]);
      if (field === null) continue;
      const tag = /json:"([^"]*)"/.exec(field[3])?.[1];
      if (tag === undefined || tag === '-') continue;
      const [json, ...flags] = tag.split(',');
      const number = /protobuf:"\w+,(\d+)/.exec(field[3])?.[1];
      const rawType = field[2];
      const [, alias, typeName] = /^\*?(?:(\w+)\.)?(\w+)$/.exec(rawType) ?? [];
      fields.push({
        json,
        inline: json === '',
        type: qualify(rawType),
        target: typeName === undefined ? undefined : [alias === undefined ? importPath : imports.get(alias), typeName],
        omitEmpty: flags.includes('omitempty'),
        omitZero: flags.includes('omitzero'),
        number: number === undefined ? undefined : Number(number),
      });
    }
    found.set(name, { fields });
  }
}

/** Inlined structs are dissolved, as encoding/json does. */
function flatten(type) {
  return type.fields.flatMap((field) => {
    if (!field.inline) return [field];
    const embedded = field.target && goTypes.lookUp(field.target[0], field.target[1]);
    return embedded?.fields === undefined ? [] : flatten(embedded);
  });
}

function compactGoTypes() {
  const out = {};
  for (const name of Object.keys(schemas)) {
    const { module, path, type } = goPackageOf(name);
    const declared = goTypes.load(module, path).get(type);
    if (declared?.fields === undefined || declared.fields.length === 0) {
      if (schemas[name].properties !== undefined) console.error(`no Go struct for ${name}`);
      continue;
    }
    const flat = flatten(declared);
    const known = schemas[name].properties ?? {};
    for (const property of Object.keys(known)) {
      if (!flat.some((field) => field.json === property)) console.error(`no Go field for ${name}.${property}`);
    }
    out[name] = flat
      .filter((field) => Object.hasOwn(known, field.json))
      .map((field) => `${field.json}:${field.type}${field.omitEmpty ? ':o' : ''}${field.omitZero ? ':z' : ''}`)
      .join(';');
  }
  return out;
}

/**
 * Messages by schema name. Each field is `ID:JSON NAME:TYPE`; an empty name is an embedded struct whose fields JSON inlines,
 * `[]TYPE` is repeated, `{}TYPE` a map from string. TYPE is a scalar or a schema name.
 */
function protobuf() {
  const messages = read('protobuf-fields.json');
  const toSchemaName = (message) =>
    message
      .replace(/^\.?k8s\.io\./, 'io.k8s.')
      .replace('apiextensions_apiserver', 'apiextensions-apiserver')
      .replace('kube_aggregator', 'kube-aggregator');
  const scalar = {
    TYPE_STRING: 'string',
    TYPE_INT32: 'int',
    TYPE_INT64: 'int',
    TYPE_BOOL: 'bool',
    TYPE_BYTES: 'bytes',
    TYPE_DOUBLE: 'double',
  };
  const typeOf = (type) => scalar[type] ?? toSchemaName(type);
  const out = {};
  const reachable = [...Object.keys(schemas)].filter(
    (name) => /\.v\d/.test(name) || /intstr|resource|runtime/.test(name),
  );
  for (const extra of [
    'io.k8s.apimachinery.pkg.runtime.Unknown',
    'io.k8s.apimachinery.pkg.runtime.TypeMeta',
    'io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent',
    'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata',
    'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList',
  ]) {
    if (!reachable.includes(extra)) reachable.push(extra);
  }
  const byName = new Map(Object.entries(messages).map(([name, fields]) => [toSchemaName(name), { name, fields }]));
  const done = new Set();
  while (reachable.length > 0) {
    const name = reachable.shift();
    if (done.has(name)) continue;
    done.add(name);
    const message = byName.get(name);
    if (message === undefined) continue;
    const { module, path, type } = goPackageOf(name);
    const declared = goTypes.load(module, path).get(type);
    const tags = declared?.fields ?? [];
    out[name] = Object.entries(message.fields)
      .map(([field, { id, type: fieldType, rule }]) => {
        const entry = messages[fieldType.replace(/^\./, '')];
        const isMap =
          rule === 'repeated' &&
          fieldType.endsWith('Entry') &&
          entry?.key !== undefined &&
          entry.value !== undefined &&
          Object.keys(entry).length === 2;
        const valueType = typeOf(isMap ? entry.value.type : fieldType);
        if (byName.has(valueType)) reachable.push(valueType);
        const tagged = tags.find((one) => one.number === id);
        const json = tagged === undefined ? field : tagged.json;
        return { id, text: `${id}:${json}:${isMap ? '{}' : rule === 'repeated' ? '[]' : ''}${valueType}` };
      })
      .sort((a, b) => a.id - b.id)
      .map((field) => field.text)
      .join(';');
  }
  return out;
}
