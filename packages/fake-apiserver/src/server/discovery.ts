// Discovery in both forms: group by group, and all at once with an ETag.
// Upstream: apiserver@v0.30.3:pkg/endpoints/discovery/{root,group,version,storageversionhash}.go, discovery/aggregated/handler.go
import { createHash } from 'node:crypto';
import { formatGroupVersion, goJsonStringify } from '@kube-rx/apimachinery';
import type { HttpRequest, HttpResponse } from '../endpoints/http.ts';
import {
  ALL_MEDIA_TYPES,
  negotiateOutput,
  parseAccept,
  routerAccepts,
  routerNotAcceptable,
} from '../endpoints/negotiation.ts';
import { splitPath } from '../endpoints/request-info.ts';
import { writeBytes, writeText, writeValue } from '../endpoints/response-writers.ts';
import { methodNotAllowed, notFoundRoute } from '../endpoints/router-errors.ts';
import { writeYaml } from '../endpoints/yaml-writer.ts';
import { encodeProtobuf } from '../protobuf/index.ts';
import type { ResourceInfo, SubresourceInfo } from '../registry/rest.ts';
import type { ApiGroups, ServedGroup, ServedVersion } from './api-groups.ts';

export const CUSTOM_NOT_FOUND = '404 page not found\n';

/** Resources that are stored under another version than one of those that serve them. */
const STORED_AS: ReadonlyMap<string, string> = new Map([
  ['autoscaling/horizontalpodautoscalers', 'autoscaling/v2/HorizontalPodAutoscaler'],
  // The legacy group is written with its empty name in front.
  ['events.k8s.io/events', '/v1/Event'],
  ['flowcontrol.apiserver.k8s.io/flowschemas', 'flowcontrol.apiserver.k8s.io/v1/FlowSchema'],
  ['apiextensions.k8s.io/customresourcedefinitions', 'apiextensions.k8s.io/v1beta1/CustomResourceDefinition'],
  [
    'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
    'flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration',
  ],
]);

interface DiscoveryDocument {
  readonly kind: string;
  /** Those of the legacy group have none. */
  readonly apiVersion?: string;
  readonly [field: string]: unknown;
}

/** Serves `/api`, `/apis` and everything up to a group version; undefined for other paths. */
export class Discovery {
  readonly #groups: ApiGroups;
  /** host:port clients of this address range should use. */
  readonly #address: () => string;
  #aggregated: { readonly key: string; readonly bytes: Buffer; readonly etag: string }[] = [];
  #aggregatedGeneration = -1;

  constructor(groups: ApiGroups, address: () => string) {
    this.#groups = groups;
    this.#address = address;
  }

  /** Whether a path is discovery at all. */
  handles(path: string): boolean {
    if (path.includes('//')) return false;
    const [prefix, group, version, ...rest] = splitPath(path);
    if (prefix === 'api') return group === undefined || version === undefined;
    if (prefix !== 'apis' || rest.length > 0) return false;
    return group === undefined || this.#groups.get(group) !== undefined;
  }

  async serve(request: HttpRequest, response: HttpResponse): Promise<void> {
    const [prefix, ...rest] = splitPath(request.path);
    const custom = prefix === 'apis' && this.#groups.get(rest[0] ?? '')?.custom === true;
    const document = prefix === 'api' ? this.#legacy(rest) : this.#named(rest);
    if (document === undefined) {
      if (custom) return writeText(response, 404, CUSTOM_NOT_FOUND);
      throw notFoundRoute();
    }
    // The aggregator and the handler of custom resources answer whatever the method is; the others are routes.
    const accept = request.header('accept');
    const route = prefix === 'api' || rest[0] === 'apiregistration.k8s.io' || (rest.length > 1 && !custom);
    if (route) {
      if (request.method !== 'GET') throw methodNotAllowed();
      if (!routerAccepts(accept, ALL_MEDIA_TYPES)) throw routerNotAcceptable(ALL_MEDIA_TYPES);
    }
    const wanted = rest.length === 0 ? aggregatedForm(accept) : undefined;
    if (wanted !== undefined) return this.#serveAggregated(request, response, prefix!, wanted);
    const negotiated = negotiateOutput(accept, { protobuf: 'all', transforms: false });
    if (negotiated.mediaType === 'application/vnd.kubernetes.protobuf') {
      const { apiVersion = '' } = document;
      const bytes = encodeProtobuf({ ...document, apiVersion: 'v1' }, apiVersion);
      return writeBytes(request, response, 200, negotiated.mediaType, [bytes]);
    }
    await writeValue(request, response, 200, document, negotiated);
  }

  #legacy(rest: readonly string[]): DiscoveryDocument | undefined {
    if (rest.length === 0) {
      const address = { clientCIDR: '0.0.0.0/0', serverAddress: this.#address() };
      return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [address] };
    }
    return rest.length === 1 ? this.#version('', rest[0]!) : undefined;
  }

  #named(rest: readonly string[]): DiscoveryDocument | undefined {
    if (rest.length === 0) {
      const groups = [...this.#groups.all().values()].filter((group) => group.name !== '').map(groupDocument);
      return { kind: 'APIGroupList', apiVersion: 'v1', groups };
    }
    const group = this.#groups.get(rest[0]!);
    if (group === undefined) return undefined;
    if (rest.length === 1) return { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) };
    return rest.length === 2 ? this.#version(rest[0]!, rest[1]!) : undefined;
  }

  #version(group: string, version: string): DiscoveryDocument | undefined {
    const served = this.#groups.get(group)?.versions.find((one) => one.version === version);
    if (served === undefined) return undefined;
    return {
      kind: 'APIResourceList',
      // The legacy group's list has no version of its own.
      ...(group === '' ? {} : { apiVersion: 'v1' }),
      groupVersion: formatGroupVersion({ group, version }),
      resources: served.resources.flatMap(resourceEntries),
    };
  }

  #serveAggregated(
    request: HttpRequest,
    response: HttpResponse,
    prefix: string,
    { version, mediaType }: AggregatedForm,
  ): Promise<void> {
    const { bytes, etag } = this.#aggregate(prefix, version);
    response.setHeader('etag', etag);
    response.addHeader('vary', 'Accept');
    response.setHeader('cache-control', 'public');
    if ((request.header('if-none-match') ?? '') === etag) return response.send(304, []);
    const type = `${mediaType};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
    if (mediaType === 'application/json') return writeBytes(request, response, 200, type, [bytes]);
    return writeBytes(request, response, 200, type, [Buffer.from(writeYaml(JSON.parse(bytes.toString())))]);
  }

  #aggregate(prefix: string, version: string): { readonly bytes: Buffer; readonly etag: string } {
    if (this.#aggregatedGeneration !== this.#groups.generation) {
      this.#aggregated = [];
      this.#aggregatedGeneration = this.#groups.generation;
    }
    const key = `${prefix};${version}`;
    const known = this.#aggregated.find((one) => one.key === key);
    if (known !== undefined) return known;
    const groups = [...this.#groups.all().values()].filter((group) => (group.name === '') === (prefix === 'api'));
    const document = {
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: groups.map(aggregatedGroup),
    };
    const bytes = Buffer.from(`${goJsonStringify(document)}\n`);
    // The same for both versions of the document: it stands for what is in it.
    const etag = `"${createHash('sha512').update(goJsonStringify(document.items)).digest('hex').toUpperCase()}"`;
    const made = { key, bytes, etag };
    this.#aggregated.push(made);
    return made;
  }
}

interface AggregatedForm {
  readonly version: string;
  readonly mediaType: 'application/json' | 'application/yaml';
}

/** The first aggregated form the client would take, also behind others it likes better; undefined when it names none. */
function aggregatedForm(accept: string | undefined): AggregatedForm | undefined {
  for (const { type, subtype, params } of parseAccept(accept ?? '')) {
    const version = params.get('v') ?? '';
    const known = params.get('as') === 'APIGroupDiscoveryList' && params.get('g') === 'apidiscovery.k8s.io';
    if (!known || (version !== 'v2' && version !== 'v2beta1')) continue;
    const any = type === '*' || (type === 'application' && subtype === '*');
    if (any || (type === 'application' && subtype === 'json')) return { version, mediaType: 'application/json' };
    if (type === 'application' && subtype === 'yaml') return { version, mediaType: 'application/yaml' };
  }
  return undefined;
}

function groupDocument(group: ServedGroup): object {
  const versions = group.versions.map(({ version }) => ({
    groupVersion: formatGroupVersion({ group: group.name, version }),
    version,
  }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

function storageHash(info: ResourceInfo): string {
  const version = info.storageVersion ?? info.version;
  const stored = STORED_AS.get(`${info.group}/${info.resource}`) ?? `${info.group}/${version}/${info.kind}`;
  return createHash('sha256').update(stored).digest().subarray(0, 8).toString('base64');
}

const listedVerbs = (info: ResourceInfo): readonly string[] => info.listedVerbs ?? [...info.verbs].sort();

/** Those of custom resources stand in the order of their CRD's controller. */
const listedSubresources = (info: ResourceInfo): readonly SubresourceInfo[] =>
  info.custom ? info.subresources : [...info.subresources].sort((a, b) => (a.name < b.name ? -1 : 1));

const isStored = (info: ResourceInfo): boolean => info.verbs.includes('watch');

function resourceEntries(info: ResourceInfo): readonly unknown[] {
  const own = {
    name: info.resource,
    singularName: info.singular,
    namespaced: info.namespaced,
    kind: info.kind,
    verbs: listedVerbs(info),
    ...(info.shortNames.length > 0 ? { shortNames: info.shortNames } : {}),
    ...(info.categories.length > 0 ? { categories: info.categories } : {}),
    ...(isStored(info) ? { storageVersionHash: storageHash(info) } : {}),
  };
  return [own, ...listedSubresources(info).map((sub) => subresourceEntry(info, sub))];
}

const isForeign = (info: ResourceInfo, sub: SubresourceInfo): boolean =>
  sub.group !== info.group || sub.version !== info.version;

function subresourceEntry(info: ResourceInfo, sub: SubresourceInfo): unknown {
  return {
    name: `${info.resource}/${sub.name}`,
    singularName: '',
    namespaced: info.namespaced,
    ...(isForeign(info, sub) ? { group: sub.group, version: sub.version } : {}),
    kind: sub.kind,
    verbs: [...sub.verbs].sort(),
  };
}

function aggregatedGroup(group: ServedGroup): unknown {
  return {
    metadata: { ...(group.name === '' ? {} : { name: group.name }), creationTimestamp: null },
    versions: group.versions.map(aggregatedVersionOf),
  };
}

function aggregatedVersionOf(served: ServedVersion): unknown {
  return {
    version: served.version,
    resources: served.resources.map((info) => ({
      resource: info.resource,
      responseKind: kindOf(info, info.custom),
      scope: info.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: info.singular,
      verbs: listedVerbs(info),
      ...(info.shortNames.length > 0 ? { shortNames: info.shortNames } : {}),
      ...(info.categories.length > 0 ? { categories: info.categories } : {}),
      ...(info.subresources.length > 0
        ? {
            subresources: info.subresources.map((sub) => ({
              subresource: sub.name,
              responseKind: kindOf(sub, info.custom || isForeign(info, sub)),
              verbs: [...sub.verbs].sort(),
            })),
          }
        : {}),
    })),
    freshness: 'Current',
  };
}

/** Built-in kinds name group and version only when they are not those around them. */
function kindOf(
  of: { readonly group: string; readonly version: string; readonly kind: string },
  full: boolean,
): unknown {
  return { group: full ? of.group : '', version: full ? of.version : '', kind: of.kind };
}
