import { addresses } from './machine.ts'

const metadata = { name: 'coredns', namespace: 'kube-system' }
const labels = { 'k8s-app': 'kube-dns' }

const configuration = `.:53 {
  errors
  health :8080
  ready :8181
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    ttl 30
  }
  cache 30
  loadbalance
}
`

/** The DNS server of a cluster, with the permissions that it needs. */
export const nameServerObjects: object[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:coredns' },
    rules: [
      { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: configuration } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: metadata.name,
          priorityClassName: 'system-cluster-critical',
          dnsPolicy: 'Default',
          containers: [
            {
              name: 'coredns',
              image: 'docker.io/library/coredns:test',
              imagePullPolicy: 'Never',
              args: ['-conf', '/etc/coredns/Corefile'],
              resources: { requests: { cpu: '20m', memory: '40Mi' } },
              ports: [
                { name: 'dns', containerPort: 53, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort: 53 },
              ],
              readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 3 },
              volumeMounts: [{ name: 'configuration', mountPath: '/etc/coredns' }],
            },
          ],
          volumes: [{ name: 'configuration', configMap: { name: metadata.name } }],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: metadata.namespace, labels },
    spec: {
      clusterIP: addresses.dns,
      selector: labels,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53 },
      ],
    },
  },
]
