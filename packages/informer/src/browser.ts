// The entry for browsers and other runtimes without Node's modules: use the fetch transport.
export * from './core.ts';
