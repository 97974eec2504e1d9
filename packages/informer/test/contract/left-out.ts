// Scripts that are not played here, each with the reason.

export const leftOut: Readonly<Record<string, string>> = {
  'list-gzip': 'transports unpack below the seam at which the script is played; axios-transport.test.ts has it',
};

/** Beside those, for the profile modern. */
export const leftOutOfModern: Readonly<Record<string, string>> = {
  'wl-bookmark-without-annotation':
    'takes a bookmark before the end of a streaming list for an end that lost its mark, and lists; this server refuses lists for ever',
  'watch-object-no-metadata': 'what an object without a name means is not said anywhere',
};
