import { RequestFailure } from '#lib/api/failure.ts'

/** Why the tool server did not let somebody in, and what would help. */
export interface Refusal {
  title: string
  advice: string
  /** Whether a key is what is missing. */
  wantsKey: boolean
}

/** What a status of the tool server means to whoever sees it; null for what is no refusal. */
export const refusalOf = (thrown: unknown, hasKey: boolean): Refusal | null => {
  if (!(thrown instanceof RequestFailure)) return null
  const explain = meanings[thrown.status]
  return explain ? explain(hasKey) : null
}

const meanings: Readonly<Record<number, (hasKey: boolean) => Refusal>> = {
  401: (hasKey) =>
    hasKey
      ? {
          title: '401: it does not know this key',
          advice: 'The key is mistyped, expired or revoked, or it was made by another installation.',
          wantsKey: true,
        }
      : {
          title: '401: it wants to know who asks',
          advice:
            'Being signed in to these pages does not count here: a program sends a key of its own with every request, as Authorization: Bearer.',
          wantsKey: true,
        },
  403: () => ({
    title: '403: this key may do other things, not this',
    advice: 'A key for the tool server has the scope mcp. Scopes are chosen when a key is made and stay as they are.',
    wantsKey: true,
  }),
  429: () => ({
    title: '429: too many requests in this minute',
    advice:
      'Requests are counted by address, whoever sends them; a program that is set up counts as well. The operator raises the budget with RATE_LIMIT_MCP_PER_MIN.',
    wantsKey: false,
  }),
}
