// Gives a service its families, addresses and ports, and takes them back.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/service/storage/alloc.go
// Differs: one family, IPv4; dual-stack clusters are not modelled.
import { newInternalError, newInvalid } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, has, num, put, str, strings } from '../draft.ts';
import { FieldErrors, path } from '../validation/field-errors.ts';
import { ipFamily } from '../validation/ip.ts';
import { metadata } from '../validation/object-meta.ts';
import { validateClusterIps } from '../validation/service.ts';
import { AllocationError, AllocationTransaction, type IpAllocator, type PortAllocator } from './service-allocators.ts';
import { needsHealthCheckPort, nodePorts, same, specOf } from './service-fields.ts';

const FAMILY = 'IPv4';
const POLICY = path('spec', 'ipFamilyPolicy');

function refuse(service: Draft, errors: FieldErrors): void {
  if (!errors.empty) throw newInvalid({ group: '', kind: 'Service' }, str(metadata(service), 'name'), errors.causes);
}

function invalidNodePort(service: Draft, index: number, port: number, why: string): never {
  const errors = new FieldErrors();
  errors.invalid(path('spec', 'ports').index(index).child('nodePort'), port, why);
  throw newInvalid({ group: '', kind: 'Service' }, str(metadata(service), 'name'), errors.causes);
}

export class ServiceAllocation {
  readonly #ips: IpAllocator;
  readonly #ports: PortAllocator;

  constructor(ips: IpAllocator, ports: PortAllocator) {
    this.#ips = ips;
    this.#ports = ports;
  }

  /** Remembers what a stored service holds. */
  adopt(service: Draft): void {
    const spec = specOf(service);
    for (const ip of strings(spec, 'clusterIPs')) if (ip !== 'None') this.#quietly(() => this.#ips.take(ip));
    for (const port of nodePorts(spec)) this.#quietly(() => this.#ports.take(port));
    const health = num(spec, 'healthCheckNodePort') ?? 0;
    if (health !== 0) this.#quietly(() => this.#ports.take(health));
  }

  #quietly(take: () => void): void {
    try {
      take();
    } catch (error) {
      // A value of another range, or one that two services of an old store share.
      if (!(error instanceof AllocationError)) throw error;
    }
  }

  /** Gives back everything a deleted service held. */
  release(service: Draft): void {
    const spec = specOf(service);
    for (const ip of strings(spec, 'clusterIPs')) if (ipFamily(ip) === FAMILY) this.#ips.free(ip);
    for (const port of nodePorts(spec)) this.#ports.free(port);
    const health = num(spec, 'healthCheckNodePort') ?? 0;
    if (health !== 0) this.#ports.free(health);
  }

  /** @throws StatusError 422; what was taken before it is given back */
  create(service: Draft, dryRun: boolean): AllocationTransaction {
    return this.#within(dryRun, (transaction) => {
      this.#families(service, undefined);
      this.#clusterIps(service, transaction);
      const spec = specOf(service);
      if (wantsNodePorts(spec)) this.#newNodePorts(service, transaction);
      if (needsHealthCheckPort(spec)) this.#healthCheckPort(spec, transaction);
    });
  }

  update(service: Draft, oldService: Draft, dryRun: boolean): AllocationTransaction {
    return this.#within(dryRun, (transaction) => {
      const [spec, old] = [specOf(service), specOf(oldService)];
      this.#families(service, old);
      const [was, is] = [str(old, 'type'), str(spec, 'type')];
      if (was === 'ExternalName' && is !== 'ExternalName') this.#clusterIps(service, transaction);
      else if (was !== 'ExternalName' && is === 'ExternalName') {
        for (const ip of strings(old, 'clusterIPs'))
          if (ipFamily(ip) === FAMILY) transaction.release(() => this.#ips.free(ip));
      }
      this.#changedNodePorts(service, old, transaction);
      if (needsHealthCheckPort(spec) && !needsHealthCheckPort(old)) this.#healthCheckPort(spec, transaction);
      const oldHealth = num(old, 'healthCheckNodePort') ?? 0;
      if (needsHealthCheckPort(old) && !needsHealthCheckPort(spec) && oldHealth !== 0)
        transaction.release(() => this.#ports.free(oldHealth));
    });
  }

  #within(dryRun: boolean, work: (transaction: AllocationTransaction) => void): AllocationTransaction {
    const transaction = new AllocationTransaction();
    try {
      work(transaction);
    } catch (error) {
      transaction.settle(false);
      throw error;
    }
    // A dry run shows what it would get and keeps nothing.
    if (dryRun) transaction.settle(false);
    return transaction;
  }

  #families(service: Draft, old: Draft | undefined): void {
    const spec = specOf(service);
    if (str(spec, 'type') === 'ExternalName') return;
    const selectorless = str(spec, 'clusterIP') === 'None' && Object.keys(dict(spec, 'selector') ?? {}).length === 0;
    if (!has(spec, 'ipFamilyPolicy')) {
      const before = str(old, 'ipFamilyPolicy');
      put(spec, 'ipFamilyPolicy', before !== '' ? before : selectorless ? 'RequireDualStack' : 'SingleStack');
    }
    const errors = new FieldErrors();
    validateClusterIps(spec, errors);
    refuse(service, errors);
    this.#stackErrors(spec, old, errors);
    refuse(service, errors);
    const policy = str(spec, 'ipFamilyPolicy');
    if (selectorless) {
      // Nobody routes it, so both families are promised whether or not the cluster has them.
      const families = strings(spec, 'ipFamilies').length === 0 ? [FAMILY] : [...strings(spec, 'ipFamilies')];
      if (families.length < 2 && policy !== 'SingleStack') families.push(families[0] === FAMILY ? 'IPv6' : FAMILY);
      put(spec, 'ipFamilies', families);
      return;
    }
    if (policy === 'RequireDualStack')
      errors.invalid(POLICY, policy, 'this cluster is not configured for dual-stack services');
    strings(spec, 'ipFamilies').forEach((family, index) => {
      if (family !== FAMILY)
        errors.invalid(path('spec', 'ipFamilies').index(index), family, 'not configured on this cluster');
    });
    refuse(service, errors);
    if (strings(spec, 'ipFamilies').length === 0) put(spec, 'ipFamilies', [FAMILY]);
  }

  #stackErrors(spec: Draft, old: Draft | undefined, errors: FieldErrors): void {
    const policy = str(spec, 'ipFamilyPolicy');
    if (policy === 'SingleStack') {
      for (const field of old === undefined ? [] : ['clusterIPs', 'ipFamilies']) {
        if (same(spec, old!, field) && strings(spec, field).length > 1)
          put(spec, field, strings(spec, field).slice(0, 1));
      }
      for (const [field, what] of [
        ['clusterIPs', 'cluster IPs'],
        ['ipFamilies', 'IP families'],
      ] as const) {
        if (strings(spec, field).length === 2)
          errors.invalid(
            POLICY,
            policy,
            `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
          );
      }
    }
    const ips = strings(spec, 'clusterIPs');
    for (const [index, ip] of ips.entries()) {
      if (ip === 'None') break;
      const families = strings(spec, 'ipFamilies');
      if (index < families.length) continue;
      const family = ipFamily(ip) ?? FAMILY;
      if (family !== FAMILY)
        errors.invalid(
          path('spec', 'clusterIPs').index(index),
          [...ips],
          `${family} is not configured on this cluster`,
        );
      else put(spec, 'ipFamilies', [...families, family]);
    }
  }

  #clusterIps(service: Draft, transaction: AllocationTransaction): void {
    const spec = specOf(service);
    const [asked = ''] = strings(spec, 'clusterIPs');
    if (str(spec, 'type') === 'ExternalName' || asked === 'None') return;
    let ip = asked;
    try {
      if (ip === '') ip = this.#ips.takeNext();
      else this.#ips.take(ip);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      if (asked === '') throw newInternalError(`failed to allocate a serviceIP: ${error.message}`);
      const errors = new FieldErrors();
      errors.invalid(path('spec', 'clusterIPs'), [asked], `failed to allocate IP ${asked}: ${error.message}`);
      refuse(service, errors);
    }
    transaction.taken(() => this.#ips.free(ip));
    put(spec, 'clusterIP', ip);
    put(spec, 'clusterIPs', [ip]);
  }

  #take(service: Draft, index: number, port: number, transaction: AllocationTransaction): void {
    try {
      this.#ports.take(port);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      invalidNodePort(service, index, port, error.message);
    }
    transaction.taken(() => this.#ports.free(port));
  }

  #takeNext(transaction: AllocationTransaction): number {
    try {
      const port = this.#ports.takeNext();
      transaction.taken(() => this.#ports.free(port));
      return port;
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      throw newInternalError(`failed to allocate a nodePort: ${error.message}`);
    }
  }

  /** Entries of the same port, which differ in protocol, share a node port. */
  #newNodePorts(service: Draft, transaction: AllocationTransaction): void {
    const ports = dicts(specOf(service), 'ports');
    const byPort = new Map<number, number>();
    const allocates = allocatesNodePorts(specOf(service));
    ports.forEach((entry, index) => {
      const asked = num(entry, 'nodePort') ?? 0;
      if (asked === 0 && !allocates) return;
      const port = num(entry, 'port') ?? 0;
      const shared = byPort.get(port);
      if (shared === undefined) {
        const requested = ports
          .filter((other) => num(other, 'port') === port)
          .map((other) => num(other, 'nodePort') ?? 0)
          .find((value) => value !== 0);
        if (requested !== undefined) this.#take(service, index, requested, transaction);
        const given = requested ?? this.#takeNext(transaction);
        put(entry, 'nodePort', given);
        byPort.set(port, given);
      } else if (asked === 0) put(entry, 'nodePort', shared);
      else if (asked !== shared) this.#take(service, index, asked, transaction);
    });
  }

  #changedNodePorts(service: Draft, old: Draft, transaction: AllocationTransaction): void {
    const spec = specOf(service);
    const before = new Set(nodePorts(old));
    if (wantsNodePorts(spec)) {
      const taken = new Set<number>();
      const allocates = allocatesNodePorts(spec);
      dicts(spec, 'ports').forEach((entry, index) => {
        const asked = num(entry, 'nodePort') ?? 0;
        if (asked === 0 && !allocates) return;
        if (asked === 0) put(entry, 'nodePort', this.#takeNext(transaction));
        else if (!before.has(asked) && !taken.has(asked)) {
          this.#take(service, index, asked, transaction);
          taken.add(asked);
        }
      });
    }
    const after = new Set(wantsNodePorts(spec) ? nodePorts(spec) : []);
    for (const port of before) if (!after.has(port)) transaction.release(() => this.#ports.free(port));
  }

  #healthCheckPort(spec: Draft, transaction: AllocationTransaction): void {
    const asked = num(spec, 'healthCheckNodePort') ?? 0;
    if (asked === 0) {
      put(spec, 'healthCheckNodePort', this.#takeNext(transaction));
      return;
    }
    try {
      this.#ports.take(asked);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      throw newInternalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${error.message}`);
    }
    transaction.taken(() => this.#ports.free(asked));
  }
}

const wantsNodePorts = (spec: Draft): boolean => ['NodePort', 'LoadBalancer'].includes(str(spec, 'type'));

const allocatesNodePorts = (spec: Draft): boolean =>
  str(spec, 'type') === 'NodePort' ||
  (str(spec, 'type') === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false);
