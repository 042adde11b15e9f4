import { RequestFailure } from '#lib/api/failure.ts'

/** The reason why the server rejected a request, and a remedy. */
export interface CallRejection {
  title: string
  advice: string
  /** Whether a new key would help. */
  requiresKey: boolean
}

/** Returns the explanation for the status of a rejected request; null for other failures. */
export const explainRejection = (thrown: unknown, hasKey: boolean): CallRejection | null => {
  if (!(thrown instanceof RequestFailure)) return null
  const explain = rejectionsByStatus[thrown.status]
  return explain ? explain(hasKey) : null
}

const rejectionsByStatus: Readonly<Record<number, (hasKey: boolean) => CallRejection>> = {
  401: (hasKey) =>
    hasKey
      ? {
          title: '401: invalid API key',
          advice: 'The key is mistyped, expired, revoked or from another installation.',
          requiresKey: true,
        }
      : {
          title: '401: authentication required',
          advice: 'Sign in, or enter an API key. Clients send a key with each request, as Authorization: Bearer.',
          requiresKey: true,
        },
  403: () => ({
    title: '403: missing scope',
    advice: 'The MCP server requires a key with the scope mcp. Scopes cannot be changed; create a new key.',
    requiresKey: true,
  }),
  429: () => ({
    title: '429: rate limit exceeded',
    advice:
      'The limit applies per client address and includes other MCP clients. Raise it with RATE_LIMIT_MCP_PER_MIN.',
    requiresKey: false,
  }),
}
