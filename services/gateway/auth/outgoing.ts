/** Asks an address that the operator named, and gives the status and the JSON of its answer. Throws when there is none. */
export type AskJson = (url: string, request?: { method: 'GET' | 'POST'; bearer?: string }) => Promise<JsonAnswer>

export interface JsonAnswer {
  status: number
  body: unknown
}
