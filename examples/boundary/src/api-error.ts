// What an error of a call says, in one line.

/** The reason of a Status, '' when the error has none. */
export function reasonOf(error: unknown): string {
  const { status } = (error ?? {}) as { status?: { reason?: unknown } };
  return typeof status?.reason === 'string' ? status.reason : '';
}

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0]!;
}
