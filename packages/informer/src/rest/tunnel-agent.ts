// Node's connection pools, with every connection made through a proxy.
import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions } from 'node:https';
import type { Socket } from 'node:net';
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls';
import type { DialTarget } from './proxy-dialer.ts';

/** Makes the connection below; see {@link dialThroughProxy}. */
export type Dial = (target: DialTarget) => Promise<Socket>;

type Create = HttpAgent['createConnection'];
type Created = (error: Error | null, socket?: Socket) => void;

/** Plain connections through the proxy. */
export function httpTunnelAgent(dial: Dial, options: AgentOptions): HttpAgent {
  const agent = new HttpAgent(options);
  agent.createConnection = later((target, created) => {
    dial(targetOf(target)).then((socket) => created(null, socket), created);
  });
  return agent;
}

/** TLS to the server, inside the connection to the proxy. */
export function httpsTunnelAgent(dial: Dial, options: HttpsAgentOptions): HttpsAgent {
  const agent = new HttpsAgent(options);
  agent.createConnection = later((target, created) => {
    dial(targetOf(target)).then((socket) => created(null, tlsConnect({ ...target, socket })), created);
  });
  return agent;
}

/** Node takes a connection by callback when none is returned; its types know only of the other way. */
function later(create: (target: DialTarget & ConnectionOptions, created: Created) => void): Create {
  return create as unknown as Create;
}

function targetOf({ host, port }: DialTarget): DialTarget {
  return { host, port: Number(port) };
}
