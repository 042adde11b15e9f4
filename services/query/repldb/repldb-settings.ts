import { type Setting, secretSetting, wholeNumberSetting } from '#shared/config/setting.ts'

/** Returns a setting for a base URL without credentials, query and fragment. */
const createBaseUrlSetting = (doc: string): Setting<URL | undefined> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: 'URL (http, https) without user, password, query or fragment',
  parse: (value) => {
    if (value === undefined) return undefined
    const url = URL.canParse(value) ? new URL(value) : undefined
    const isPlain = url && ![url.username, url.password, url.search, url.hash].some((part) => part !== '')
    if (isPlain && (url.protocol === 'http:' || url.protocol === 'https:')) return url
    throw new Error('must be an absolute URL with http or https, without user, password, query and fragment')
  },
})

/** Settings of the replication service, read on each request. */
export const repldbSettings = {
  REPLDB_API_URL: createBaseUrlSetting(
    'URL of the PeerDB replication service; setting it enables the replication section. Use the URL of its UI plus /api, or the origin of its API.',
  ),
  REPLDB_PASSWORD: secretSetting('Password of the replication service, sent as HTTP Basic with an empty user.'),
  REPLDB_CACHE_TTL_MS: wholeNumberSetting(
    10_000,
    'Cache lifetime of responses of the replication service, in milliseconds; 0 disables the cache.',
    {
      max: 3_600_000,
    },
  ),
  REPLDB_CACHE_MAX_ENTRIES: wholeNumberSetting(
    500,
    'Maximum number of cached responses of the replication service; the oldest are evicted first.',
    {
      min: 1,
      max: 100_000,
    },
  ),
  REPLDB_FETCH_TIMEOUT_MS: wholeNumberSetting(
    10_000,
    'Timeout of requests to the replication service, in milliseconds.',
    {
      min: 1,
      max: 60_000,
    },
  ),
} as const
