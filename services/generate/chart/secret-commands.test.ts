import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { deriveKey } from '#shared/bus/signatures.ts'
import { formatCallKeys } from '#shared/bus/testing/keys.ts'
import { buildDeclaredNatsAccounts } from './nats.ts'
import { formatSecretCommands } from './secret-commands.ts'

/** A shell function that prints its arguments instead of calling the API server. */
const fakeKubectl = `kubectl() { printf '%s\\n' "$@"; }\n`

it('creates the passwords of all NATS users, and the keys that services derive from the signing key', async () => {
  const users = Object.keys((await buildDeclaredNatsAccounts()).users)
  const script = fakeKubectl + formatSecretCommands(users).join('\n')
  const { stdout } = await promisify(execFile)('bash', ['-euc', script])
  const words = stdout.slice(stdout.indexOf('watchhouse-nats-users')).split('\n')
  const literals = words.map((word) => /^--from-literal=([^=]+)=(.*)$/.exec(word)).filter((found) => found !== null)
  const given = new Map(literals.map(([, key = '', value = '']) => [key, value]))
  const secret = given.get('signing-key') ?? ''
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  const passwords = users.map((user) => given.get(user))
  expect(new Set(passwords).size).toBe(users.length)
  for (const password of passwords) expect(password).toMatch(/^w[0-9a-f]+$/)
  for (const user of users.filter((one) => one !== 'gateway' && !one.endsWith('-streams'))) {
    expect(given.get(`verification-key-${user}`)).toBe(deriveKey(user, secret))
    expect(given.get(`call-keys-${user}`) ?? '').toBe(formatCallKeys(user, secret))
  }
})
