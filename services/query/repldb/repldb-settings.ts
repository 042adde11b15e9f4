import { type Setting, secret, whole } from '#shared/config/setting.ts'

/** An address that paths are added to: credentials have a setting of their own, and whatever follows a path would get lost. */
const baseAddress = (doc: string): Setting<URL | undefined> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: 'URL (http, https) without user, password, query or fragment',
  parse: (given) => {
    if (given === undefined) return undefined
    const url = URL.canParse(given) ? new URL(given) : undefined
    const isPlain = url && ![url.username, url.password, url.search, url.hash].some((part) => part !== '')
    if (isPlain && (url.protocol === 'http:' || url.protocol === 'https:')) return url
    throw new Error('must be an absolute URL with http or https, without user, password, query and fragment')
  },
})

/** How the replication service is reached; read when a request is handled. */
export const repldbSettings = {
  REPLDB_API_URL: baseAddress(
    'Address of the replication service, which turns its section on: that of its web ends in /api, that of its API alone is the bare origin.',
  ),
  REPLDB_PASSWORD: secret('Password of the replication service, sent as HTTP Basic with an empty user.'),
  REPLDB_CACHE_TTL_MS: whole(
    10_000,
    'How long answers of the replication service are used again, in milliseconds; 0 not at all.',
    {
      max: 3_600_000,
    },
  ),
  REPLDB_CACHE_MAX_ENTRIES: whole(500, 'Answers of the replication service that are kept; beyond this the oldest go.', {
    min: 1,
    max: 100_000,
  }),
  REPLDB_FETCH_TIMEOUT_MS: whole(
    10_000,
    'How long an answer of the replication service is waited for, in milliseconds.',
    {
      min: 1,
      max: 60_000,
    },
  ),
} as const
