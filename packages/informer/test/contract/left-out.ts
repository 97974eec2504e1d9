// Scripts that are not played here, each with the reason.

export const leftOut: Readonly<Record<string, string>> = {
  'list-gzip': 'transports unpack below the seam at which the script is played; axios-transport.test.ts has it',
};
