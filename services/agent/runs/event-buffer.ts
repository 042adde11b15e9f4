/** What a run has told, each event with its number; what no longer fits is forgotten from the beginning. */
export class EventBuffer {
  readonly #maxBytes: number
  readonly #events: string[] = []
  #bytes = 0
  #forgotten = 0
  /** Places at the beginning of the list that are empty: taking each away at once would move all the others. */
  #empty = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Number of the last event; 0 before the first. */
  get last(): number {
    return this.#forgotten + this.#events.length - this.#empty
  }

  /** Keeps one line of data as a server-sent event. */
  append(data: string): void {
    const event = `id: ${this.last + 1}\ndata: ${data}\n\n`
    this.#events.push(event)
    this.#bytes += Buffer.byteLength(event)
    while (this.#bytes > this.#maxBytes && this.#empty < this.#events.length - 1) this.#forget()
    if (this.#empty <= this.#events.length / 2) return
    this.#events.splice(0, this.#empty)
    this.#empty = 0
  }

  #forget(): void {
    this.#bytes -= Buffer.byteLength(this.#events[this.#empty] ?? '')
    this.#events[this.#empty] = ''
    this.#empty += 1
    this.#forgotten += 1
  }

  /** The events after one, at least the next and then as many as fit; undefined when the next is forgotten or was never told. */
  after(number: number, maxLength: number): { events: string; last: number } | undefined {
    if (number < this.#forgotten || number > this.last) return undefined
    let events = ''
    let last = number
    for (let place = number - this.#forgotten + this.#empty; place < this.#events.length; place += 1) {
      const event = this.#events[place] ?? ''
      if (events !== '' && events.length + event.length > maxLength) break
      events += event
      last += 1
    }
    return { events, last }
  }
}
