// The view on a terminal: a row per informer, the last things that happened below. Redrawn in place a few times a second.
import type { BoundaryEvent, Output, Summary } from './events.ts';
import { describeEvent, describeSummary } from './format.ts';

/** What the view shows of an informer. */
export interface InformerRow {
  readonly kind: string;
  readonly objects: number;
  readonly phase: string;
  readonly resourceVersion: string;
  readonly lastBookmark: string;
  readonly events: number;
  readonly relists: number;
  readonly gone: number;
}

export interface Screen {
  write(text: string): void;
  readonly columns: number;
  readonly rows: number;
}

const RESET = '\x1b[0m';
const BOLD = '\x1b[1m';
const DIM = '\x1b[2m';
const RED = '\x1b[31m';
const GREEN = '\x1b[32m';
const YELLOW = '\x1b[33m';
const KEPT_LINES = 200;
const REDRAW_MS = 200;

const COLUMNS: readonly { readonly title: string; readonly of: (row: InformerRow) => string; readonly right?: true }[] =
  [
    { title: 'INFORMER', of: (row) => row.kind },
    { title: 'OBJECTS', of: (row) => String(row.objects), right: true },
    { title: 'PHASE', of: (row) => row.phase },
    { title: 'RV', of: (row) => row.resourceVersion, right: true },
    { title: 'LAST BOOKMARK', of: (row) => row.lastBookmark },
    { title: 'EVENTS', of: (row) => String(row.events), right: true },
    { title: 'RELISTS', of: (row) => String(row.relists), right: true },
    { title: '410', of: (row) => String(row.gone), right: true },
  ];

export class LiveView implements Output {
  readonly #screen: Screen;
  readonly #rows: () => readonly InformerRow[];
  readonly #log: string[] = [];
  readonly #timer: NodeJS.Timeout;
  #title = '';

  constructor(screen: Screen, rows: () => readonly InformerRow[]) {
    this.#screen = screen;
    this.#rows = rows;
    screen.write('\x1b[?25l\x1b[2J');
    this.#timer = setInterval(() => this.draw(), REDRAW_MS);
  }

  tell(event: BoundaryEvent): void {
    if (event.event === 'started') this.#title = describeEvent(event);
    else this.#log.push(colour(event) + describeEvent(event) + RESET);
    if (this.#log.length > KEPT_LINES) this.#log.splice(0, this.#log.length - KEPT_LINES);
  }

  end(summary: Summary): void {
    this.draw();
    this.close();
    this.#screen.write(`${summary.consistent ? GREEN : RED}${describeSummary(summary)}${RESET}\n`);
  }

  /** Gives the terminal back. Idempotent. */
  close(): void {
    clearInterval(this.#timer);
    this.#screen.write('\x1b[?25h');
  }

  draw(): void {
    const { columns, rows: height } = this.#screen;
    const table = tableLines(this.#rows());
    const head = [
      `${BOLD}kube-rx: the watch boundary${RESET}  ${DIM}Ctrl-C ends${RESET}`,
      this.#title,
      '',
      ...table,
      '',
    ];
    const room = Math.max(height - head.length - 1, 1);
    const lines = [...head, ...this.#log.slice(-room)];
    // Each line is cleared to its end and the rest of the screen after the last one: no flicker, no leftovers.
    this.#screen.write(`\x1b[H${lines.map((line) => `${clip(line, columns)}\x1b[K`).join('\n')}\n\x1b[J`);
  }
}

export function tableLines(rows: readonly InformerRow[]): string[] {
  const cells = rows.map((row) => COLUMNS.map((column) => column.of(row)));
  const widths = COLUMNS.map(({ title }, index) => Math.max(title.length, ...cells.map((line) => line[index]!.length)));
  const align = (line: readonly string[]): string =>
    line
      .map((cell, index) => (COLUMNS[index]!.right ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!)))
      .join('  ');
  const body = cells.map((line, index) => {
    const { phase } = rows[index]!;
    return `${phase.startsWith('watching') ? '' : YELLOW}${align(line)}${RESET}`;
  });
  return [`${DIM}${align(COLUMNS.map(({ title }) => title))}${RESET}`, ...body];
}

function colour(event: BoundaryEvent): string {
  switch (event.event) {
    case 'fault':
    case 'not-recovered':
    case 'problem':
      return RED;
    case 'saw':
      return YELLOW;
    case 'recovered':
      return GREEN;
    case 'verified':
      return event.consistent ? GREEN : RED;
    case 'change':
      return DIM;
    default:
      return '';
  }
}

/** Cut to the width of the screen; escape sequences take no room. */
export function clip(text: string, columns: number): string {
  let shown = 0;
  let result = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  for (const piece of text.match(/\x1b\[[0-9;]*m|[^\x1b]/gu) ?? []) {
    const isEscape = piece.length > 1 && piece.startsWith('\x1b');
    if (!isEscape && shown >= columns) continue;
    if (!isEscape) shown++;
    result += piece;
  }
  return result;
}
