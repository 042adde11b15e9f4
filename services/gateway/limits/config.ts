import { optional, whole } from '#shared/config/setting.ts'

const atLeastOne = { min: 1 }

/** How often callers may call. Counts are shared by all processes on one Redis. */
export const limitSettings = {
  RATE_LIMIT_API_PER_MIN: whole(100, 'Data-route requests a minute for one client address.', atLeastOne),
  RATE_LIMIT_AGENT_PER_MIN: whole(
    10,
    'Questions to the agent a minute for one client address, and again for one caller who is known.',
    atLeastOne,
  ),
  RATE_LIMIT_AGENT_GUEST_PER_MIN: whole(5, 'Questions to the agent a minute for one guest of cloud mode.', atLeastOne),
  SVC_GUEST_AI_REQUESTS_PER_DAY: whole(3, 'Questions to the agent a day (UTC) for one guest of cloud mode.'),
  RATE_LIMIT_MCP_PER_MIN: whole(30, 'Requests to the tool server a minute for one client address.', atLeastOne),
  RATE_LIMIT_INGEST_PER_MIN: whole(6_000, 'Requests that bring events a minute for one client address.', atLeastOne),
  RATE_LIMIT_BROWSER_CONN_PER_MIN: whole(
    10,
    'Browser-connection requests a minute for one client address and route.',
    atLeastOne,
  ),
  RATE_LIMIT_DEVICE_CODE_PER_MIN: whole(10, 'Device-login requests a minute for one client address.', atLeastOne),
} as const

const binding = (budget: string) =>
  optional(
    `Binding of the edge platform that counts ${budget} for the fleet. It binds none here: counts are shared by REDIS_URL or the state database.`,
  )

/** Limit bindings of the edge platform's own runtime, which no process of this product gets. */
export const limitBindings = {
  SVC_RATE_LIMIT_API: binding('data-route requests'),
  SVC_RATE_LIMIT_AGENT: binding('questions to the agent'),
  SVC_RATE_LIMIT_MCP: binding('tool-server requests'),
  SVC_RATE_LIMIT_BROWSER_CONN: binding('browser-connection requests'),
} as const
