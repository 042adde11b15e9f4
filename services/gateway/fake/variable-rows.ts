import { features } from '#proto/call.ts'

/** One variable that the gateway obeys, as it must stay. */
export interface VariableRow {
  name: string
  /** As the settings reference prints it. */
  fallback: string
  /** What is different because of it. */
  effect: string
  /** The test that shows the effect, from the folder above. */
  shownBy: string
  /** Texts that cannot be meant: they refuse the start in these words, or mean as much as none. */
  bad: readonly (readonly [text: string, outcome: RegExp | 'unset'])[]
}

const wholeNumber = /^must be a whole number/
const notWhole = [
  ['many', wholeNumber],
  ['-1', wholeNumber],
  ['1.5', wholeNumber],
] as const
const budget = (name: string, fallback: string, effect: string): VariableRow => ({
  name,
  fallback,
  effect,
  shownBy: 'limits/limits.test.ts',
  bad: [...notWhole, ['0', wholeNumber]],
})
const unclear = [
  ['maybe', 'unset'],
  ['2', 'unset'],
] as const
const edge = (name: string): VariableRow => ({
  name,
  fallback: 'false',
  effect: 'the edge address header is believed, APP_VERSION is the version of the web, no SVC_CONFIG_FILE is read',
  shownBy: 'client-address.test.ts',
  bad: unclear,
})
const device = { shownBy: 'routes/device-login.test.ts' }

/** Every variable of the gateway but those of signing in, which have a table of their own. */
export const variableRows: readonly VariableRow[] = [
  {
    name: 'PORT',
    fallback: '3000',
    effect: 'the HTTP API and the web listen there',
    shownBy: 'listener.test.ts',
    bad: [...notWhole, ['65536', wholeNumber]],
  },
  { name: 'HOST', fallback: '0.0.0.0', effect: 'they listen on this address', shownBy: 'listener.test.ts', bad: [] },
  {
    name: 'SVC_REQUEST_TIMEOUT_MS',
    fallback: '75000',
    effect: 'an answer that takes longer is a 504',
    shownBy: 'listener.test.ts',
    bad: [...notWhole, ['99', wholeNumber]],
  },
  {
    name: 'APP_VERSION',
    fallback: 'none',
    effect: 'on the edge, ui of /api/version',
    shownBy: 'routes/version.test.ts',
    bad: [],
  },
  {
    name: 'SVC_AUDIT_DAYS',
    fallback: '365',
    effect: 'older records go with the retention prune',
    shownBy: 'routes/cron.test.ts',
    bad: [...notWhole, ['0', wholeNumber]],
  },
  edge('EDGE_WORKERS'),
  edge('EDGE_PAGES'),
  edge('EDGE_LOCAL_EMULATOR'),
  {
    name: 'SVC_PUBLIC_URL',
    fallback: 'none',
    effect: 'links name this address instead of the one that was asked',
    shownBy: 'routes/auth-documents.test.ts',
    bad: [
      ['watch.example', /^must be an absolute URL/],
      ['ftp://watch.example', /^must be an absolute URL/],
    ],
  },
  {
    ...device,
    name: 'SVC_DEVICE_LOGIN',
    fallback: 'auto',
    effect: 'command lines may sign in, once there is an API-key secret',
    bad: unclear,
  },
  {
    ...device,
    name: 'SVC_DEVICE_LOGIN_SUBJECT',
    fallback: 'self-hosted',
    effect: 'whom the operator lets in on a device counts as this subject',
    bad: [['x'.repeat(257), /^must not be longer than 256 characters$/]],
  },
  {
    name: 'CONVERSATIONS_EDGESQL',
    fallback: 'none',
    effect: 'device codes are kept in this database',
    shownBy: 'auth/device/config.test.ts',
    bad: [['postgres://db.example/codes', /^must be an absolute URL/]],
  },
  {
    name: 'SVC_WEB_DIRECTORY',
    fallback: 'web/build',
    effect: 'the web is served from this folder, and what it was built with counts',
    shownBy: 'web-build.test.ts',
    bad: [],
  },
  {
    name: 'AGENT_API_TOKEN',
    fallback: 'none',
    effect: 'programs that share it may ask the agent, while its access is authenticated',
    shownBy: 'routes/agent.test.ts',
    bad: [],
  },
  {
    name: 'SVC_AGENT_MAX_BODY_BYTES',
    fallback: '131072',
    effect: 'longer questions are refused',
    shownBy: 'routes/agent.test.ts',
    bad: notWhole,
  },
  {
    name: 'SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS',
    fallback: 'true in cloud mode, else false',
    effect: 'people may subscribe webhooks of their own',
    shownBy: 'routes/webhook-subscriptions.test.ts',
    bad: unclear,
  },
  {
    name: 'SVC_FEATURE_CONVERSATION_DB',
    fallback: 'false',
    effect: 'conversations of signed-in people are kept on the server, when the web is built with it',
    shownBy: 'routes/conversations.test.ts',
    bad: unclear,
  },
  {
    name: 'SVC_FEATURE_USER_CONNECTIONS_DB',
    fallback: 'false',
    effect: 'people may keep connections of their own, where there is a state database and an encryption key',
    shownBy: 'routes.test.ts',
    bad: unclear,
  },
  {
    name: 'SVC_FEATURE_PROMETHEUS_ENABLED',
    fallback: 'unset',
    effect: '/api/v1/metrics answers 404 when it is off; unset it is on, in cloud mode off',
    shownBy: 'routes/metrics.test.ts',
    bad: unclear,
  },
  {
    name: 'SVC_DISABLED_FEATURES',
    fallback: 'none',
    effect: 'routes of these features answer 404 feature-disabled',
    shownBy: 'features/refusal.test.ts',
    bad: [['OVERVIEW, NOPE', /^knows no feature NOPE; there are OVERVIEW,/]],
  },
  {
    name: 'SVC_AUTH_REQUIRED_FEATURES',
    fallback: 'none',
    effect: 'routes of these features answer 401 to whoever is not known',
    shownBy: 'features/refusal.test.ts',
    bad: [['NOPE', /^knows no feature NOPE/]],
  },
  {
    name: 'SVC_CONFIG_FILE',
    fallback: 'none',
    effect: 'its features table counts where the environment says nothing',
    shownBy: 'features/file.test.ts',
    bad: [],
  },
  ...features.flatMap((feature): VariableRow[] => [
    {
      name: `SVC_FEATURE_${feature}_ACCESS`,
      fallback: 'public',
      effect: 'authenticated keeps out whoever is not known; guest is another word for public',
      shownBy: 'features/permissions.test.ts',
      bad: [['sometimes', /^must be public, guest or authenticated$/]],
    },
    {
      name: `SVC_FEATURE_${feature}_ENABLED`,
      fallback: 'true',
      effect: 'false answers 404 feature-disabled',
      shownBy: 'features/permissions.test.ts',
      bad: unclear,
    },
  ]),
  {
    name: 'SVC_TRUST_PROXY_HEADERS',
    fallback: 'unset',
    effect: 'X-Real-IP and X-Forwarded-For name the client; unset they do on the edge',
    shownBy: 'client-address.test.ts',
    bad: [
      ['yes', 'unset'],
      ['on', 'unset'],
    ],
  },
  budget('RATE_LIMIT_API_PER_MIN', '100', 'data routes answer 429 beyond it'),
  budget('RATE_LIMIT_AGENT_PER_MIN', '10', 'questions to the agent are 429 beyond it, by address and then by caller'),
  budget('RATE_LIMIT_AGENT_GUEST_PER_MIN', '5', 'questions of one guest of cloud mode are 429 beyond it'),
  {
    ...budget(
      'SVC_GUEST_AI_REQUESTS_PER_DAY',
      '3',
      'questions of one guest are 429 beyond it until the day ends in UTC',
    ),
    bad: notWhole,
  },
  budget('RATE_LIMIT_MCP_PER_MIN', '30', 'requests to the tool server are 429 beyond it'),
  budget('RATE_LIMIT_BROWSER_CONN_PER_MIN', '10', 'tests and sessions of browser connections are 429 beyond it, each'),
  budget('RATE_LIMIT_DEVICE_CODE_PER_MIN', '10', 'device-login requests are refused beyond it'),
  {
    ...budget('RATE_LIMIT_INGEST_PER_MIN', '6000', 'requests that bring events are 429 beyond it'),
    shownBy: 'routes/ingest.test.ts',
  },
  {
    name: 'SVC_EVENTS_INGEST_TOKEN',
    fallback: 'none',
    effect: 'the bearer of the door for events, which answers 503 without it',
    shownBy: 'routes/ingest.test.ts',
    bad: [],
  },
  {
    name: 'SVC_TELEMETRY_ENDPOINT',
    fallback: 'none',
    effect: 'a report of four facts is posted there once a day; nothing is sent without it',
    shownBy: 'usage-report/usage-report.test.ts',
    bad: [
      ['telemetry', /^must be an absolute URL/],
      ['ftp://x', /^must be an absolute URL/],
    ],
  },
  {
    name: 'IDP_WEBHOOK_SECRET',
    fallback: 'none',
    effect: 'what it signs of people who are gone is acted on; the door for it answers 503 without it',
    shownBy: 'routes/identity-webhook.test.ts',
    bad: [
      ['short', /^must be whsec_/],
      ['whsec_', /^must be whsec_/],
    ],
  },
  {
    name: 'REPO_HOST_WEBHOOK_SECRET',
    fallback: 'none',
    effect: 'deployments are taken that it signs; the door for them answers 503 without it',
    shownBy: 'routes/repository-webhook.test.ts',
    bad: [],
  },
  {
    name: 'CHATAPP_SIGNING_SECRET',
    fallback: 'none',
    effect: 'clicks in chats are taken that it signs; the door for them answers 503 without it',
    shownBy: 'routes/chat-webhook.test.ts',
    bad: [],
  },
  {
    name: 'CRON_SECRET',
    fallback: 'none',
    effect: 'the bearer of the cron routes, which answer 503 without it',
    shownBy: 'routes/cron.test.ts',
    bad: [],
  },
  {
    name: 'SVC_CORS_ORIGINS',
    fallback: 'none',
    effect: 'pages of these origins may read what the API answers',
    shownBy: 'cross-origin.test.ts',
    bad: [
      ['tools.example.com', /^must be origins such as/],
      ['https://tools.example.com/', /^must be origins such as/],
      ['javascript:alert(1)', /^must be origins such as/],
    ],
  },
  {
    name: 'SVC_MCP_PUBLIC',
    fallback: 'false',
    effect: 'everybody may use the tool server where nothing to sign in with is configured',
    shownBy: 'routes/mcp.test.ts',
    bad: unclear,
  },
  ...['API', 'AGENT', 'MCP', 'BROWSER_CONN'].map((budgeted) => ({
    name: `SVC_RATE_LIMIT_${budgeted}`,
    fallback: 'none',
    effect: 'none but a warning at the start',
    shownBy: 'unobeyed.test.ts',
    bad: [],
  })),
  ...['SVC_BILLING_SERVER', 'BILLING_ACCESS_TOKEN', 'BILLING_WEBHOOK_SECRET'].map((name) => ({
    name,
    fallback: 'none',
    effect: 'in the cloud edition, where people manage what they pay; elsewhere a warning at the start',
    shownBy: 'billing/billing.test.ts',
    bad: [],
  })),
  ...['SVC_EDITION', 'SVC_LICENSE_KEY'].map((name) => ({
    name,
    fallback: 'none',
    effect: 'edition of /api/version',
    shownBy: 'edition/edition.test.ts',
    bad: [],
  })),
]
