import { pino } from 'pino'
import packageFile from '../../package.json' with { type: 'json' }
import { type Environment, resolveFileVariables } from '#shared/config/environment.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'

interface ConfigCheckRequest {
  /** The folder of alert definitions; undefined to check none. */
  folder: string | undefined
  /** Whether to connect to all servers and hosts that the variables configure. */
  isConnecting: boolean
}

interface ConfigCheck {
  isValid: boolean
  text: string
}

/** Returns all problems of a folder of alert definitions, and of the configured connections. */
export const checkConfig = async (
  { folder, isConnecting }: ConfigCheckRequest,
  env: Environment,
): Promise<ConfigCheck> => {
  const found: ConfigCheck[] = []
  if (folder !== undefined) found.push(await checkFolder(folder, env))
  if (isConnecting) {
    const { checkServers } = await import('#shared/lifecycle/check-servers.ts')
    found.push(await checkServers(resolveFileVariables(env)), await checkConfiguredHosts(resolveFileVariables(env)))
  }
  return { isValid: found.every(({ isValid }) => isValid), text: found.map(({ text }) => text).join('') }
}

/** Checks the configured hosts. Passes without configured hosts, because embedded ones would be started. */
const checkConfiguredHosts = async (env: Environment): Promise<ConfigCheck> => {
  if (!env.COLUMNDB_HOST && !env.SVC_HOSTS_FILE) return { isValid: true, text: '' }
  const { checkHosts } = await import('../query/hosts/check-hosts.ts')
  const facts = {
    instance: 'check-config',
    version: packageFile.version,
    services: ['query'],
    secretNames: [],
  } as const
  await using telemetry = await openTelemetry({ LOG_LEVEL: 'fatal' }, facts)
  return await checkHosts(env, telemetry.of('query'))
}

const checkFolder = async (directory: string, env: Environment): Promise<ConfigCheck> => {
  const { checkHealthFiles } = await import('../alert-dispatcher/policy/health-d/check-health-files.ts')
  const { openDefinitions } = await import('../query/definitions/definitions.ts')
  const { rules, metrics } = await openDefinitions(pino({ level: 'silent' }), env.SVC_DEFINITIONS_DIRECTORY)
  const known = {
    rules: rules.map(({ name, thresholds }) => ({ id: name, thresholds })),
    metrics: metrics.map(({ name }) => ({ id: name })),
  }
  const { sound: isValid, text } = checkHealthFiles(directory, known, env)
  return { isValid, text }
}
