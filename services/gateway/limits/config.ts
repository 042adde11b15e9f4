import { optionalTextSetting, wholeNumberSetting } from '#shared/config/setting.ts'

const atLeastOne = { min: 1 }

/** Settings of rate limits. All processes with the same Redis or state database share the counters. */
export const rateLimitSettings = {
  RATE_LIMIT_API_PER_MIN: wholeNumberSetting(100, 'Data-route requests per minute and client address.', atLeastOne),
  RATE_LIMIT_AGENT_PER_MIN: wholeNumberSetting(
    10,
    'Agent requests per minute and client address, and per minute and authenticated caller.',
    atLeastOne,
  ),
  RATE_LIMIT_AGENT_GUEST_PER_MIN: wholeNumberSetting(
    5,
    'Agent requests per minute and guest in cloud mode.',
    atLeastOne,
  ),
  SVC_GUEST_AI_REQUESTS_PER_DAY: wholeNumberSetting(3, 'Agent requests per day (UTC) and guest in cloud mode.'),
  RATE_LIMIT_MCP_PER_MIN: wholeNumberSetting(30, 'MCP requests per minute and client address.', atLeastOne),
  RATE_LIMIT_INGEST_PER_MIN: wholeNumberSetting(
    6_000,
    'Event ingest requests per minute and client address.',
    atLeastOne,
  ),
  RATE_LIMIT_BROWSER_CONN_PER_MIN: wholeNumberSetting(
    10,
    'Browser-connection requests per minute, client address and route.',
    atLeastOne,
  ),
  RATE_LIMIT_DEVICE_CODE_PER_MIN: wholeNumberSetting(
    10,
    'Device-login requests per minute and client address.',
    atLeastOne,
  ),
} as const

const binding = (budget: string) =>
  optionalTextSetting(
    `Edge-platform binding for the fleet-wide rate limit of ${budget}. Not used here: limits are shared through REDIS_URL or the state database.`,
  )

/** Rate limit bindings of the edge platform. They are ignored, because only its own runtime provides them. */
export const rateLimitBindings = {
  SVC_RATE_LIMIT_API: binding('data-route requests'),
  SVC_RATE_LIMIT_AGENT: binding('agent requests'),
  SVC_RATE_LIMIT_MCP: binding('MCP requests'),
  SVC_RATE_LIMIT_BROWSER_CONN: binding('browser-connection requests'),
} as const
