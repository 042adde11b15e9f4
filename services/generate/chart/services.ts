import { join } from 'node:path'
import { type ServiceName, serviceNames } from '#proto/call.ts'
import type { BusEvent, Service } from '#proto/contract.ts'
import { processSettings } from '#shared/config/process.ts'
import { type Settings, listSecretNames } from '#shared/config/setting.ts'
import type { ServiceConfig } from '#shared/lifecycle/service.ts'
import { importProtoExports, isEvent, isService } from '../contracts.ts'
import { root } from '../../testing/source-file.ts'

/** Names of the variables that a service reads, including common ones; `secret` lists those that contain secrets. */
export interface ServiceVariables {
  open: string[]
  secret: string[]
}

/** Variables that the chart sets from dedicated values, so that `settings` must not contain them. */
const chartManagedVariables = new Set([
  'NATS_URL',
  'NATS_REPLICAS',
  'NATS_STREAMS_URL',
  'NATS_SIGNING_KEY',
  'NATS_VERIFICATION_KEY',
  'NATS_VERIFICATION_KEY_PREVIOUS',
  'NATS_CALL_KEYS',
  'NATS_CALL_KEYS_PREVIOUS',
  'NATS_SIGNATURES',
  'REDIS_URL',
  'OPERATIONS_PORT',
  'OPERATIONS_HOST',
  'SVC_INSTANCE',
  'SHUTDOWN_GRACE_MS',
  'STARTUP_WAIT_MS',
  'SVC_SANDBOX_DIRECTORY',
  'SVC_DATA_DIRECTORY',
  'SVC_QUERY_ROLE',
  'SVC_HOSTS_FILE',
  'SVC_DEFINITIONS_DIRECTORY',
  'SVC_HEALTH_CONFIG_DIRECTORY',
  'SVC_CONFIG_FILE',
  'CRON_SECRET',
  'PORT',
  'HOST',
])

/** Returns the variables that users of the chart can set, by service name. */
export const readServiceVariables = async (): Promise<Map<ServiceName, ServiceVariables>> => {
  const entries = serviceNames.map(async (name) => {
    const { settings } = await importServiceConfig(name)
    return [name, variablesIn({ ...processSettings, ...settings })] as const
  })
  return new Map(await Promise.all(entries))
}

export const importServiceConfig = (name: ServiceName): Promise<ServiceConfig> =>
  import(join(root, 'services', name, 'config.ts'))

const variablesIn = (settings: Settings): ServiceVariables => {
  const secret = listSecretNames(settings).filter((name) => !chartManagedVariables.has(name))
  const all = Object.keys(settings).filter((name) => !chartManagedVariables.has(name))
  return { open: all.filter((name) => settings[name]?.audience !== 'secret').toSorted(), secret: secret.toSorted() }
}

/** Returns the contracts and events that `proto/` exports. */
export const importContracts = async (): Promise<{ contracts: Service[]; events: BusEvent[] }> => {
  const exported = await importProtoExports()
  return { contracts: exported.filter(isService), events: exported.filter(isEvent) }
}
