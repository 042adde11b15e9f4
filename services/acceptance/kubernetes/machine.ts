import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveKubernetesPath } from '../../testing/servers/server-source.ts'
import { type CommandOptions, runCommand } from './command.ts'
import { createControlGroup } from './control-groups.ts'

/** The programs that `.ci/kubernetes` builds. */
export const programs = resolveKubernetesPath()

/** A machine of the cluster, with its own network, mounts, processes and host name. It has no way out of the cluster. */
export interface Machine extends AsyncDisposable {
  /** The position, from 1. */
  readonly number: number
  /** The id of its first process. */
  readonly processId: string
  readonly name: string
  readonly address: string
  /** The network of its pods. */
  readonly podNetwork: string
  /** The control group of its pods, below the root of each hierarchy. */
  readonly controlGroup: string
  /** Its folder for data, configuration and logs. */
  readonly directory: string
  /** Runs a command on the machine and returns its output. */
  run(command: readonly string[], options?: CommandOptions): Promise<string>
  /** Starts a program that runs until the machine ends, with its output in `<name>.log`. */
  start(name: string, command: readonly string[], environment?: Readonly<Record<string, string>>): Promise<void>
}

/** Addresses of machines, pods and Services. */
export const addresses = { machines: '10.90.0', pods: '10.244', services: '10.96.0.0/16', dns: '10.96.0.10' }

/** Temporary file systems hide folders of this machine, so that the programs of the cluster leave nothing in them. */
const setUp = `set -e
hostname "$0"
mount -t proc proc /proc
for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs $folder; done
mkdir -p /run/netns /run/lock
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
for filter in all default; do echo 0 >/proc/sys/net/ipv4/conf/$filter/rp_filter; done
echo ready
exec "$1"
`
const searchPath = `${programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
const namespaces = ['--net', '--mount', '--pid', '--uts']

/** Starts the machine with this number. Ending its first process ends all others. */
export const startMachine = async (number: number, folder: string): Promise<Machine> => {
  await using opened = new AsyncDisposableStack()
  const name = `node-${number}`
  const controlGroup = `watchhouse-${process.pid}-${number}`
  opened.use(await createControlGroup(controlGroup))
  const directory = join(folder, name)
  await mkdir(directory, { recursive: true })
  const isolate = ['unshare', ...namespaces, '--propagation', 'private', '--fork', '--kill-child=KILL']
  // The machine ends with this process, even if this process is killed.
  const [program = '', ...words] = ['setpriv', '--pdeathsig', 'KILL', ...isolate, 'sh', '-c', setUp, name]
  const child = spawn(program, [...words, join(programs, 'pause')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PATH: searchPath },
  })
  opened.defer(() => end(child))
  const ready = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  if (!String(ready[0]).startsWith('ready')) throw new Error(`machine ${name} did not start; it needs root`)
  const processId = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim()
  const enter = ['nsenter', '--target', processId, ...namespaces, '--']
  const running = opened.move()
  return {
    number,
    processId,
    name,
    address: `${addresses.machines}.${number}`,
    podNetwork: `${addresses.pods}.${number}.0/24`,
    controlGroup,
    directory,
    run: (command, { environment, ...options } = {}) =>
      runCommand([...enter, ...command], { ...options, environment: { PATH: searchPath, ...environment } }),
    async start(title, command, environment = {}) {
      await using log = await open(join(directory, `${title}.log`), 'a')
      const [entering = '', ...rest] = [...enter, ...command]
      const env = { ...process.env, PATH: searchPath, ...environment }
      spawn(entering, rest, { stdio: ['ignore', log.fd, log.fd], env })
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Kills a machine. The first process holds the output until all others have ended. */
const end = async (child: ChildProcess): Promise<void> => {
  if (child.stdout?.closed) return
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  await ended
}

/** Connects two machines with a cable, and gives each a route to the pods of the other. */
export const connectMachines = async (first: Machine, second: Machine): Promise<void> => {
  // The process id of the other machine is only known outside of both.
  const enter = ['nsenter', '--target', first.processId, '--net', '--']
  const pair = ['type', 'veth', 'peer', 'name', 'other-end', 'netns', second.processId]
  await runCommand([...enter, 'ip', 'link', 'add', 'cable', ...pair])
  for (const [machine, link, other] of [
    [first, 'cable', second],
    [second, 'other-end', first],
  ] as const) {
    await machine.run(['ip', 'address', 'add', `${machine.address}/24`, 'dev', link])
    await machine.run(['ip', 'link', 'set', link, 'up'])
    await machine.run(['ip', 'route', 'add', other.podNetwork, 'via', other.address])
    // Programs refuse to start on a machine without a default route. Nothing answers at this address.
    await machine.run(['ip', 'route', 'add', 'default', 'via', `${addresses.machines}.254`])
  }
}
