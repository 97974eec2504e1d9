// The operations of a served resource, before they are written as OpenAPI v2 or v3.
// Upstream: apiserver@v0.30.3:pkg/endpoints/installer.go#registerResourceHandlers, pkg/endpoints/openapi/openapi.go
import type { ResourceInfo, SubresourceInfo } from '../registry/rest.ts';

export interface GroupVersionKindRef {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface QueryParameter {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
}

export type HttpMethod = 'get' | 'put' | 'post' | 'delete' | 'patch';

export interface Operation {
  readonly path: string;
  readonly method: HttpMethod;
  readonly id: string;
  /** E.g. `core_v1`. */
  readonly tag: string;
  /** Undefined for discovery documents, else e.g. `deletecollection`. */
  readonly action: string | undefined;
  readonly kind: GroupVersionKindRef | undefined;
  readonly query: readonly QueryParameter[];
  /** Component name of the body's type; `patch` for patches. */
  readonly body: string | undefined;
  /** Component name of the answer's type; undefined for plain text. */
  readonly answer: string | undefined;
  /** Answers of writes that can create carry 201, those that can be deferred 202. */
  readonly codes: readonly number[];
  readonly watchable: boolean;
  /** Custom resources are neither read nor written as protobuf, and have no strategic merge patch. */
  readonly custom?: boolean;
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
export const PATCH_COMPONENT: string = `${META}.Patch`;

const parameters = (spec: string): readonly QueryParameter[] =>
  spec.split(' ').map((entry) => {
    const [name = '', type] = entry.split(':');
    return { name, type: type === 'i' ? 'integer' : type === 'b' ? 'boolean' : 'string' };
  });

const LIST = parameters(
  'allowWatchBookmarks:b continue fieldSelector labelSelector limit:i resourceVersion resourceVersionMatch sendInitialEvents:b timeoutSeconds:i watch:b',
);
const WRITE = parameters('dryRun fieldManager fieldValidation');
const PATCH = parameters('dryRun fieldManager fieldValidation force:b');
const DELETE = parameters('dryRun gracePeriodSeconds:i orphanDependents:b propagationPolicy');
const DELETE_COLLECTION = parameters(
  'continue dryRun fieldSelector gracePeriodSeconds:i labelSelector limit:i orphanDependents:b propagationPolicy resourceVersion resourceVersionMatch sendInitialEvents:b timeoutSeconds:i',
);

const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `Core`, `Apps`, `RbacAuthorization`, `StableExampleCom`. */
function groupTitle(group: string): string {
  if (group === '') return 'Core';
  return group
    .replace(/\.k8s\.io$/, '')
    .split('.')
    .map(title)
    .join('');
}

function tagOf(group: string, version: string): string {
  const name = groupTitle(group);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}_${version}`;
}

/** `/api/v1` or `/apis/apps/v1`. */
export function groupVersionPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** Finds the component of a kind; undefined for kinds without one, which answer plain text. */
export type ComponentOf = (group: string, version: string, kind: string) => string | undefined;

/** All operations of a resource and its subresources. */
export function operationsOf(info: ResourceInfo, componentOf: ComponentOf): Operation[] {
  return new ResourceOperations(info, componentOf).all();
}

class ResourceOperations {
  readonly #info: ResourceInfo;
  readonly #componentOf: ComponentOf;
  readonly #root: string;
  readonly #collection: string;
  readonly #scope: string;

  constructor(info: ResourceInfo, componentOf: ComponentOf) {
    this.#info = info;
    this.#componentOf = componentOf;
    this.#root = groupVersionPath(info.group, info.version);
    this.#collection = `${this.#root}${info.namespaced ? '/namespaces/{namespace}' : ''}/${info.resource}`;
    this.#scope = info.namespaced ? 'Namespaced' : '';
  }

  all(): Operation[] {
    const { verbs, kind } = this.#info;
    const { group, version } = this.#info;
    const has = (verb: string): boolean => verbs.includes(verb);
    const own: GroupVersionKindRef = { group, version, kind };
    const component = this.#componentOf(group, version, kind);
    const list = this.#componentOf(group, version, this.#info.listKind);
    const name = `${this.#scope}${kind}`;
    const one = `${this.#collection}/{name}`;
    const found: Operation[] = [];
    const add = (method: HttpMethod, path: string, verb: string, suffix: string, more: Partial<Operation>): void => {
      found.push(this.#operation(method, path, verb, suffix, own, more));
    };
    if (has('list')) {
      const more = { action: 'list', query: LIST, answer: list, watchable: has('watch') };
      add('get', this.#collection, 'list', name, more);
      if (this.#info.namespaced) {
        add('get', `${this.#root}/${this.#info.resource}`, 'list', `${kind}ForAllNamespaces`, more);
      }
    }
    if (has('create')) {
      add('post', this.#collection, 'create', name, {
        action: 'post',
        query: WRITE,
        body: component,
        answer: component,
        codes: [200, 201, 202],
      });
    }
    if (has('deletecollection')) {
      add('delete', this.#collection, 'delete', `Collection${name}`, {
        action: 'deletecollection',
        query: DELETE_COLLECTION,
        body: `${META}.DeleteOptions`,
        answer: `${META}.Status`,
      });
    }
    if (has('get')) add('get', one, 'read', name, { action: 'get', answer: component });
    if (has('update')) {
      add('put', one, 'replace', name, {
        action: 'put',
        query: WRITE,
        body: component,
        answer: component,
        codes: [200, 201],
      });
    }
    if (has('patch')) {
      add('patch', one, 'patch', name, {
        action: 'patch',
        query: PATCH,
        body: PATCH_COMPONENT,
        answer: component,
        codes: [200, 201],
      });
    }
    if (has('delete')) {
      add('delete', one, 'delete', name, {
        action: 'delete',
        query: DELETE,
        body: `${META}.DeleteOptions`,
        answer: `${META}.Status`,
        codes: [200, 202],
      });
    }
    for (const subresource of this.#info.subresources) found.push(...this.#subresource(subresource, one));
    return found;
  }

  #subresource(sub: SubresourceInfo, one: string): Operation[] {
    const path = `${one}/${sub.name}`;
    const kind: GroupVersionKindRef = { group: sub.group, version: sub.version, kind: sub.kind };
    const component = this.#componentOf(sub.group, sub.version, sub.kind);
    const suffix = `${this.#scope}${this.#info.kind}${title(sub.name)}`;
    if (component === undefined && sub.name !== 'log') {
      const methods: readonly HttpMethod[] = sub.verbs.includes('update')
        ? ['get', 'put', 'post', 'delete', 'patch']
        : ['get', 'post'];
      return methods.map((method) =>
        this.#operation(method, path, 'connect', `${title(method)}${suffix}`, kind, { action: 'connect' }),
      );
    }
    const operations: Operation[] = [];
    const add = (method: HttpMethod, verb: string, more: Partial<Operation>): void => {
      operations.push(
        this.#operation(method, path, verb, suffix, kind, { action: method, answer: component, ...more }),
      );
    };
    for (const verb of sub.verbs) {
      if (verb === 'get') add('get', 'read', {});
      else if (verb === 'create') add('post', 'create', { query: WRITE, body: component, codes: [200, 201, 202] });
      else if (verb === 'update') add('put', 'replace', { query: WRITE, body: component, codes: [200, 201] });
      else if (verb === 'patch') add('patch', 'patch', { query: PATCH, body: PATCH_COMPONENT, codes: [200, 201] });
    }
    return operations;
  }

  #operation(
    method: HttpMethod,
    path: string,
    verb: string,
    suffix: string,
    kind: GroupVersionKindRef,
    more: Partial<Operation>,
  ): Operation {
    const { group, version } = this.#info;
    return {
      path,
      method,
      id: `${verb}${groupTitle(group)}${title(version)}${suffix}`,
      tag: tagOf(group, version),
      action: undefined,
      kind,
      query: [],
      body: undefined,
      answer: undefined,
      codes: [200],
      watchable: false,
      custom: this.#info.custom,
      ...more,
    };
  }
}

/** The discovery document of a group version. */
export function resourcesOperation(group: string, version: string): Operation {
  return {
    path: `${groupVersionPath(group, version)}/`,
    method: 'get',
    id: `get${groupTitle(group)}${title(version)}APIResources`,
    tag: tagOf(group, version),
    action: undefined,
    kind: undefined,
    query: [],
    body: undefined,
    answer: `${META}.APIResourceList`,
    codes: [200],
    watchable: false,
  };
}
