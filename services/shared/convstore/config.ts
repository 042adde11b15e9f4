import { secretSetting, type Setting, urlSetting } from '../config/setting.ts'

const protocols = ['https', 'http']
const hostedServiceUrl = 'https://agentstate.app/api'

const serviceUrlSetting = (doc: string): Setting<URL> => ({
  ...urlSetting(doc, { protocols }),
  fallback: hostedServiceUrl,
  parse: (given) => {
    const address = urlSetting(doc, { protocols }).parse(given) ?? new URL(hostedServiceUrl)
    if (address.username !== '' || address.password !== '') throw new Error('must not contain a user or a password')
    return address
  },
})

/** Returns a setting for a secret that is valid in an HTTP header. */
const headerSecretSetting = (doc: string): Setting<string | undefined> => ({
  ...secretSetting(doc),
  parse: (given) => {
    if (given === undefined || /^[\x21-\x7e]+$/.test(given)) return given
    throw new Error('must be one word of printable ASCII')
  },
})

/** URL and project key of the conversation service. */
export const convstoreSettings = {
  CONVSTORE_API_KEY: headerSecretSetting(
    'Project key of AgentState. When set, conversations are stored there, and insights too with INSIGHTS_STORE_BACKEND=convstore.',
  ),
  CONVSTORE_BASE_URL: serviceUrlSetting('Base URL of the AgentState API, for self-hosted servers.'),
} as const
