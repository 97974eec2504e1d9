// Cluster addresses and node ports: handed out at random, remembered until they are given back.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/service/{ipallocator,portallocator}/*.go
// Differs: kept in memory and filled from the stored services at start, instead of in an object of its own.
import { OptionsError } from '@kube-rx/apimachinery';
import type { Random } from '../names.ts';

/** Why a requested value could not be had; the message shows in a field error. */
export class AllocationError extends Error {
  override readonly name = 'AllocationError';
}

/** Numbers of a range, each held by at most one owner. */
class NumberAllocator {
  readonly #first: number;
  readonly #size: number;
  readonly #random: Random;
  readonly #taken = new Set<number>();

  constructor(first: number, size: number, random: Random) {
    this.#first = first;
    this.#size = size;
    this.#random = random;
  }

  contains(value: number): boolean {
    return value >= this.#first && value < this.#first + this.#size;
  }

  /** False when somebody else has it. */
  take(value: number): boolean {
    if (this.#taken.has(value)) return false;
    this.#taken.add(value);
    return true;
  }

  /** Undefined when the range is full. */
  takeNext(): number | undefined {
    if (this.#taken.size >= this.#size) return undefined;
    const start = Math.floor(this.#random() * this.#size);
    for (let step = 0; step < this.#size; step++) {
      const value = this.#first + ((start + step) % this.#size);
      if (this.take(value)) return value;
    }
    return undefined;
  }

  free(value: number): void {
    this.#taken.delete(value);
  }
}

const toNumber = (ip: string): number => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toText = (value: number): string => [24, 16, 8, 0].map((bits) => (value >>> bits) & 255).join('.');

/** Addresses of an IPv4 range without its first and last. */
export class IpAllocator {
  readonly range: string;
  readonly #numbers: NumberAllocator;

  /** @throws OptionsError for what is no IPv4 range */
  constructor(range: string, random: Random) {
    const match = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(range);
    const bits = Number(match?.[2] ?? Number.NaN);
    if (match === null || !(bits >= 12 && bits <= 30)) {
      throw new OptionsError('serviceClusterIpRange', range, 'an IPv4 range with 12 to 30 bits');
    }
    const size = 2 ** (32 - bits);
    const first = Math.floor(toNumber(match[1]!) / size) * size;
    this.range = `${toText(first)}/${bits}`;
    this.#numbers = new NumberAllocator(first + 1, size - 2, random);
  }

  /** The first address: that of the server itself. */
  get serverAddress(): string {
    return toText(toNumber(this.range.split('/')[0]!) + 1);
  }

  /** @throws AllocationError */
  take(ip: string): void {
    const value = toNumber(ip);
    if (!this.#numbers.contains(value)) {
      throw new AllocationError(
        `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${this.range}`,
      );
    }
    if (!this.#numbers.take(value)) throw new AllocationError('provided IP is already allocated');
  }

  /** @throws AllocationError */
  takeNext(): string {
    const value = this.#numbers.takeNext();
    if (value === undefined) throw new AllocationError('range is full');
    return toText(value);
  }

  free(ip: string): void {
    this.#numbers.free(toNumber(ip));
  }
}

const FIRST_PORT = 30_000;
const LAST_PORT = 32_767;

export class PortAllocator {
  readonly #numbers: NumberAllocator;

  constructor(random: Random) {
    this.#numbers = new NumberAllocator(FIRST_PORT, LAST_PORT - FIRST_PORT + 1, random);
  }

  /** @throws AllocationError */
  take(port: number): void {
    if (!this.#numbers.contains(port)) {
      throw new AllocationError(
        `provided port is not in the valid range. The range of valid ports is ${FIRST_PORT}-${LAST_PORT}`,
      );
    }
    if (!this.#numbers.take(port)) throw new AllocationError('provided port is already allocated');
  }

  /** @throws AllocationError */
  takeNext(): number {
    const port = this.#numbers.takeNext();
    if (port === undefined) throw new AllocationError('range is full');
    return port;
  }

  free(port: number): void {
    this.#numbers.free(port);
  }
}

/** What one write took and gives back; settled once its outcome is known. */
export class AllocationTransaction {
  readonly #undo: (() => void)[] = [];
  readonly #commit: (() => void)[] = [];

  /** Given back when the write fails. */
  taken(free: () => void): void {
    this.#undo.push(free);
  }

  /** Given back when the write succeeds. */
  release(free: () => void): void {
    this.#commit.push(free);
  }

  settle(written: boolean): void {
    for (const step of written ? this.#commit : this.#undo) step();
    this.#undo.length = 0;
    this.#commit.length = 0;
  }
}
