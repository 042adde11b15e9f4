import { type Setting, secret } from '#shared/config/setting.ts'

const edition: Setting<string | undefined> = {
  doc: 'What the installation calls itself, on the about page and in GET /api/version: community by default, enterprise where there is a licence key, cloud where people are billed. Every edition has every function.',
  audience: 'client',
  fallback: 'none',
  allowed: 'a word of letters, digits and dashes',
  parse: (given) => {
    if (given === undefined) return undefined
    const word = given.trim().toLowerCase()
    if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(word))
      throw new Error('must be a word of at most 32 letters, digits and dashes')
    return word
  },
}

/** What the installation calls itself. */
export const editionSettings = {
  SVC_EDITION: edition,
  SVC_LICENSE_KEY: secret(
    'Licence key. With it the installation may call itself enterprise, and does while SVC_EDITION is unset; it opens no function and is told to nobody.',
  ),
} as const
