import { hostname } from 'node:os'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import password from '@inquirer/password'
import { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import { RequestError } from '../../client/failure.ts'
import { readKeyClaims } from '../api-key.ts'
import { writeConfigFile } from '../config-file.ts'
import { type CommandContext, createCommandClient, openSession } from '../context.ts'
import { formatExamples } from '../options.ts'
import { CommandError, createUsageError, exitCodes } from '../exit-codes.ts'
import type { Output } from '../output/output.ts'

interface LoginOptions {
  withKey?: boolean
  scope?: string
}

/** Signs in and saves the key of the server. */
export const createLoginCommand = (context: CommandContext): Command =>
  new Command('login')
    .description('sign in to a server: with a code in the browser, or with an API key')
    .argument('[url]', 'address of the server')
    .option('--with-key', 'sign in with an API key, which is entered or read from standard input')
    .option('--scope <scopes>', 'scopes of the key, separated by spaces', 'write agent')
    .addHelpText(
      'after',
      formatExamples('watchhouse login https://watchhouse.example.com', 'watchhouse login --with-key < key.txt'),
    )
    .action(async (url: string | undefined, options: LoginOptions, command) => {
      if (url !== undefined) command.parent?.setOptionValue('url', url)
      const { client, output, config, configPath } = openSession(context, command)
      const discovery = await client.call('GET /api/v1/auth/cli')
      const save = (apiKey: string | undefined) => {
        const { [client.url]: _previous, ...others } = config.servers
        const expiresAt = apiKey === undefined ? null : (readKeyClaims(apiKey)?.expiresAt ?? null)
        const own = apiKey === undefined ? {} : { [client.url]: { apiKey, expiresAt } }
        writeConfigFile(configPath, { url: client.url, servers: { ...others, ...own } })
        return expiresAt
      }
      if (discovery.api === 'open' && !options.withKey) {
        save(undefined)
        return report(output, { url: client.url, subject: null, expiresAt: null })
      }
      if (discovery.method === 'none') throw new CommandError(discovery.hint, exitCodes.unauthorized)
      const isDevice = discovery.method === 'device' && !options.withKey
      const apiKey = isDevice
        ? await signInWithCode(context, client, output, options.scope ?? '')
        : await readApiKey(context, output)
      const subject = await verifyKey(context, client.url, apiKey)
      report(output, { url: client.url, subject, expiresAt: save(apiKey) })
    })

const report = (output: Output, login: { url: string; subject: string | null; expiresAt: string | null }): void => {
  if (output.mode === 'json') return output.json(login)
  if (login.subject === null) return output.line(`${login.url} requires no sign-in. It is now the default server.`)
  const until = login.expiresAt === null ? '' : ` The key expires at ${login.expiresAt}.`
  output.line(`Signed in to ${login.url} as ${login.subject}.${until}`)
}

/** Signs in with the device flow (RFC 8628). */
const signInWithCode = async (
  { signal }: CommandContext,
  client: Client,
  output: Output,
  scope: string,
): Promise<string> => {
  const code = await client.call('POST /auth/device/code', { body: { client_id: toClientId(hostname()), scope } })
  output.note(`Open ${code.verification_uri_complete}`)
  output.note(`and approve the code ${output.paint(code.user_code, 'strong')}.`)
  const untilMs = performance.now() + code.expires_in * 1_000
  for (let intervalMs = code.interval * 1_000; performance.now() < untilMs;) {
    await wait(intervalMs, undefined, { signal })
    try {
      const body = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: code.device_code }
      return (await client.call('POST /auth/token', { body })).access_token
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      if (error.type === 'slow_down') intervalMs += slowDownMs
      else if (error.type === 'access_denied') throw new CommandError('the sign-in was denied', exitCodes.unauthorized)
      else if (error.type !== 'authorization_pending' && !error.isTransient) throw error
    }
  }
  throw new CommandError('the code has expired; run "watchhouse login" again', exitCodes.unauthorized)
}

/** Increase of the interval after a poll that arrived too early (RFC 8628 §3.5). */
const slowDownMs = 5_000

/** Returns the label of the key: the name of this machine, as far as it is allowed. */
const toClientId = (name: string): string => `cli-${name}`.replaceAll(/[^\w.~-]/g, '-').slice(0, 64)

const readApiKey = async ({ stdin, stderr, signal }: CommandContext, output: Output): Promise<string> => {
  if (!stdin.isTTY) return (await readText(stdin)).trim()
  output.note('Create a key on the API keys page of the server.')
  return (await password({ message: 'API key', mask: true }, { input: stdin, output: stderr, signal })).trim()
}

/** Returns the subject of a key. The error never contains the key. */
const verifyKey = async (context: CommandContext, url: string, apiKey: string): Promise<string> => {
  if (apiKey === '') throw createUsageError('no API key; enter it, or pass it on standard input')
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw createUsageError('this is not an API key: it contains spaces or other characters')
  const { data } = await createCommandClient(context, { url, apiKey }).call('GET /api/v1/auth/me')
  if (data.kind !== 'key' && data.kind !== 'user')
    throw new CommandError(
      'the server does not accept this key; check that it is complete and not revoked',
      exitCodes.unauthorized,
    )
  return data.subject
}
