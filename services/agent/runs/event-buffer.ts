/** What a run has told, each event with its number; what no longer fits is forgotten from the beginning. */
export class EventBuffer {
  readonly #maxBytes: number
  /** By number. A map gives up its first without moving the others. */
  readonly #events = new Map<number, string>()
  #bytes = 0
  #forgotten = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Number of the last event; 0 before the first. */
  get last(): number {
    return this.#forgotten + this.#events.size
  }

  /** Keeps one line of data as a server-sent event. */
  append(data: string): void {
    const number = this.last + 1
    const event = `id: ${number}\ndata: ${data}\n\n`
    this.#events.set(number, event)
    this.#bytes += Buffer.byteLength(event)
    while (this.#bytes > this.#maxBytes && this.#events.size > 1) this.#forget()
  }

  #forget(): void {
    this.#forgotten += 1
    this.#bytes -= Buffer.byteLength(this.#events.get(this.#forgotten) ?? '')
    this.#events.delete(this.#forgotten)
  }

  /** The events after one, at least the next and then as many as fit; undefined when the next is forgotten or was never told. */
  after(number: number, maxLength: number): { events: string; last: number } | undefined {
    if (number < this.#forgotten || number > this.last) return undefined
    let events = ''
    let last = number
    while (last < this.last) {
      const event = this.#events.get(last + 1) ?? ''
      if (events !== '' && events.length + event.length > maxLength) break
      events += event
      last += 1
    }
    return { events, last }
  }
}
