// What a host may plug in to see what goes on. Everything is silent by default.

export type LogFields = Readonly<Record<string, unknown>>;

/** Constant message, data as fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
