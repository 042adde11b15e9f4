import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import { z } from 'zod'
import { type Client, createClient } from '../client/client.ts'
import { type ConfigFile, findConfigPath, readConfigFile } from './config-file.ts'
import { createUsageError } from './exit-codes.ts'
import { chooseColors, createOutput, type Output, type OutputStream } from './output/output.ts'

/** The surroundings of the process, which tests replace. */
export interface CommandContext {
  env: Readonly<Record<string, string | undefined>>
  stdin: InputStream
  stdout: Writable & OutputStream
  stderr: Writable & OutputStream
  version: string
  /** Aborted by Ctrl-C and by a request to end the process. */
  signal: AbortSignal
  /** Sets the exit code of a command that does not fail, but has something to report. */
  setExitCode(code: number): void
}

/** Standard input: a terminal, a pipe or a file. */
export type InputStream = Readable & Pick<Partial<NodeJS.ReadStream>, 'isTTY' | 'setRawMode'>

const GlobalOptions = z.object({
  url: z.string().optional(),
  json: z.boolean().default(false),
  color: z.boolean().default(true),
  timeout: z.coerce.number().optional(),
})

/** A server with its client and the output of the command. */
export interface Session {
  client: Client
  output: Output
  /** Whether `--timeout` is given. */
  hasTimeout: boolean
  /** The configuration file and its path. */
  config: ConfigFile
  configPath: string
}

const defaultUrl = 'http://localhost:3000'

/** Returns the output that the options of a command select. */
export const openOutput = (context: CommandContext, command: Command): Output => {
  const { json: isJson, color } = GlobalOptions.parse(command.optsWithGlobals())
  const { stdout, stderr, env } = context
  return createOutput({ stdout, stderr, isJson, hasColors: chooseColors(env, stdout, color) })
}

/** Returns the client of the selected server: `--url`, `WATCHHOUSE_URL`, the server of the last login, or this machine. */
export const openSession = (context: CommandContext, command: Command): Session => {
  const { config, configPath, ...server } = resolveServer(context, command)
  const client = createCommandClient(context, server)
  const hasTimeout = server.timeout !== undefined
  return { client, output: openOutput(context, command), hasTimeout, config, configPath }
}

/** Returns the address and the API key of the selected server. */
export const resolveServer = ({ env }: CommandContext, command: Command) => {
  const { url: option, timeout } = GlobalOptions.parse(command.optsWithGlobals())
  const configPath = findConfigPath(env)
  const config = readConfigFile(configPath)
  const url = parseServerUrl(option ?? (env.WATCHHOUSE_URL || (config.url ?? defaultUrl)))
  // A saved key is sent only to the server that issued it.
  const apiKey = env.WATCHHOUSE_API_KEY || config.servers[url]?.apiKey
  return { url, apiKey, timeout, config, configPath }
}

/** Returns a client whose requests end with the command. */
export const createCommandClient = (
  { signal, version }: CommandContext,
  { url, apiKey, timeout }: { url: string; apiKey?: string | undefined; timeout?: number | undefined },
): Client =>
  createClient({
    url,
    apiKey,
    signal,
    retry: { maxRetries: 2, firstDelayMs: 200 },
    headers: { 'user-agent': `watchhouse-cli/${version}` },
    ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
  })

/** Returns the address of a server without path and trailing slash. */
export const parseServerUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw createUsageError(`invalid URL of the server; it must begin with http:// or https://`)
  if (url.username !== '' || url.password !== '')
    throw createUsageError('the URL of the server must not contain credentials; use "watchhouse login"')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
