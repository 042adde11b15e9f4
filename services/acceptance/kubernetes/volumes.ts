import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { applyObjects, type Cluster } from './cluster.ts'
import type { Machine } from './machine.ts'

const perMachine = 5
const storageClass = 'local'

/**
 * Replaces the volumes of a cluster by empty ones. They are of the type `local`, because the kubelet gives the volumes
 * of `hostPath` no group, so restricted pods cannot write to them.
 */
export const createVolumes = async (cluster: Cluster, machines: readonly Machine[]): Promise<void> => {
  await cluster.kubectl(['delete', 'persistentvolume', '--all', '--wait=true', '--timeout=60s'])
  const volumes = await Promise.all(machines.flatMap(createVolumesOf))
  await applyObjects(cluster, [defaultClass, ...volumes])
}

const createVolumesOf = (machine: Machine): Promise<object>[] =>
  Array.from({ length: perMachine }, async (_, index) => {
    const name = `${machine.name}-${index + 1}`
    const path = join(machine.directory, 'volumes', name)
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { recursive: true })
    const isOnMachine = { key: 'kubernetes.io/hostname', operator: 'In', values: [machine.name] }
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: storageClass,
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isOnMachine] }] } },
      },
    }
  })

const defaultClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: storageClass, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
}
