import { secret, type Setting, url } from '../config/setting.ts'

const protocols = ['https', 'http']
const hostedService = 'https://agentstate.app/api'

const serviceUrl = (doc: string): Setting<URL> => ({
  ...url(doc, { protocols }),
  fallback: hostedService,
  parse: (given) => {
    const address = url(doc, { protocols }).parse(given) ?? new URL(hostedService)
    if (address.username !== '' || address.password !== '') throw new Error('must not contain a user or a password')
    return address
  },
})

/** Returns a setting for a secret that is valid in an HTTP header. */
const headerSecret = (doc: string): Setting<string | undefined> => ({
  ...secret(doc),
  parse: (given) => {
    if (given === undefined || /^[\x21-\x7e]+$/.test(given)) return given
    throw new Error('must be one word of printable ASCII')
  },
})

/** URL and project key of the conversation service. */
export const convstoreSettings = {
  CONVSTORE_API_KEY: headerSecret(
    'Project key of AgentState. When set, conversations are stored there, and insights too with INSIGHTS_STORE_BACKEND=convstore.',
  ),
  CONVSTORE_BASE_URL: serviceUrl('Base URL of the AgentState API, for self-hosted servers.'),
} as const
