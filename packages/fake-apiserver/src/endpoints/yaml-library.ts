// The `yaml` package, loaded with the first body that needs it: most servers are spoken to in JSON.
import { createRequire } from 'node:module';
import type { Alias, Composer, CST, Node, Parser, Scalar, YAMLMap, YAMLSeq } from 'yaml';

type Yaml = typeof import('yaml');
const require = createRequire(import.meta.url);
const library = (): Yaml => require('yaml') as Yaml;

export const createParser = (): Parser => new (library().Parser)();
export const createComposer = (options: ConstructorParameters<typeof Composer>[0]): Composer =>
  new (library().Composer)(options);

export const isCollection = (token: CST.Token): token is CST.BlockMap | CST.BlockSequence | CST.FlowCollection =>
  library().CST.isCollection(token);
export const isAlias = (node: unknown): node is Alias => library().isAlias(node);
export const isMap = (node: unknown): node is YAMLMap => library().isMap(node);
export const isSeq = (node: unknown): node is YAMLSeq => library().isSeq(node);
export const isScalar = (node: unknown): node is Scalar => library().isScalar(node);
export type { CST, Node, YAMLMap };
