import { type ServiceName, serviceDependencies } from '#proto/call.ts'
import { listKeyHolders } from '#shared/bus/subject.ts'

/** The namespace of the manifest for installations without Helm. */
export const manifestNamespace = 'watchhouse'

/** Returns shell commands that create the namespace and every Secret of the manifest. `users` are the NATS users. */
export const formatSecretCommands = (users: readonly string[]): string[] => [
  `kubectl create namespace ${manifestNamespace}`,
  createSecret('watchhouse-hosts', ['--from-file=hosts.yaml']),
  createSecret('watchhouse-host-passwords', ["--from-literal=one='the password'"]),
  createSecret('watchhouse-redis', [formatRandomLiteral('redis-password')]),
  createSecret('watchhouse-postgresql', [formatRandomLiteral('postgres-password')]),
  createSecret('watchhouse-cron', [formatRandomLiteral('CRON_SECRET')]),
  createSecret('watchhouse-encryption', [formatRandomLiteral('SVC_USER_CONNECTIONS_ENCRYPTION_KEY')]),
  'signing=$(openssl rand -hex 32)',
  `key() { printf '%s:%s' "$1" "$2" | sha256sum | cut -c1-64; }`,
  'call() { printf "%s=%s" "$2" "$(key "$1" "$(key "$2" "$signing")")"; }',
  createSecret('watchhouse-nats-users', [
    '--from-literal=signing-key="$signing"',
    ...users.map(formatRandomLiteral),
    ...users
      .filter(hasVerificationKey)
      .map((user) => `--from-literal=verification-key-${user}="$(key ${user} "$signing")"`),
    ...Object.entries(serviceDependencies).flatMap(([caller, called]) => formatCallKeyLiteral(caller, called)),
  ]),
]

const createSecret = (name: string, literals: readonly string[]): string =>
  [`kubectl --namespace ${manifestNamespace} create secret generic ${name}`, ...literals].join(' \\\n  ')

/** A NATS server parses a password with a leading digit as a number, so each one starts with a letter. */
const formatRandomLiteral = (key: string): string => `--from-literal=${key}="w$(openssl rand -hex 31)"`

const hasVerificationKey = (user: string): boolean => user !== 'gateway' && !user.endsWith('-streams')

const formatCallKeyLiteral = (caller: string, called: readonly ServiceName[]): string[] => {
  if (caller === 'gateway' || called.length === 0) return []
  const keys = called.flatMap(listKeyHolders).map((callee) => `$(call ${caller} ${callee})`)
  return [`--from-literal=call-keys-${caller}="${keys.join(',')}"`]
}
