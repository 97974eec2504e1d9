// Names that a case stands for something by: ${ns}, ${rv+1000}; and values too long or too exact to be written out.
import { isObject, type Json } from './json.ts';

const REFERENCE = /\$\{([A-Za-z]\w*)([+-]\d+)?\}/g;

export class Variables {
  readonly #values = new Map<string, string>();

  set(name: string, value: Json): void {
    if (value !== undefined) this.#values.set(name, String(value));
  }

  /** @throws Error for a name that nothing was captured under. */
  text(template: string): string {
    return template.replaceAll(REFERENCE, (_reference, name: string, offset: string | undefined) => {
      const value = this.#values.get(name);
      if (value === undefined) throw new Error(`the case has no variable ${name} here`);
      return offset === undefined ? value : String(BigInt(value) + BigInt(offset));
    });
  }

  json(template: Json): Json {
    if (typeof template === 'string') return this.text(template);
    if (Array.isArray(template)) return template.map((element) => this.json(element));
    if (!isObject(template)) return template;
    const fields = Object.entries(template);
    const [directive, operand] = fields.length === 1 ? fields[0]! : [];
    if (directive === '$repeat') return this.text(operand[0]).repeat(operand[1]);
    if (directive === '$concat') return this.json(operand).join('');
    if (directive === '$number') return Number(this.text(operand));
    return Object.fromEntries(fields.map(([name, value]) => [name, this.json(value)]));
  }
}
