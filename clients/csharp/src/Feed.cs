#nullable enable

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Bahay.Client
{
    /// <summary>Delivers items to any number of subscribers, each of which reads them at its own pace.</summary>
    internal sealed class Feed<T>
    {
        private readonly List<Subscription> _subscriptions = new List<Subscription>();
        private bool _isEnded;

        /// <summary>Adds an item for every present subscriber.</summary>
        internal void Publish(T item)
        {
            lock (_subscriptions)
            {
                foreach (Subscription one in _subscriptions) one.Add(item);
            }
        }

        /// <summary>Ends all subscriptions once their items are read.</summary>
        internal void End()
        {
            lock (_subscriptions)
            {
                _isEnded = true;
                foreach (Subscription one in _subscriptions) one.End();
                _subscriptions.Clear();
            }
        }

        /// <summary>
        /// Subscribes now, and returns the later items. With <paramref name="isConflated"/> a slow reader receives only
        /// the newest one.
        /// </summary>
        internal IAsyncEnumerable<T> Subscribe(bool isConflated, CancellationToken cancellation)
        {
            var subscription = new Subscription(isConflated);
            lock (_subscriptions)
            {
                if (_isEnded) subscription.End();
                else _subscriptions.Add(subscription);
            }
            CancellationTokenRegistration registration = cancellation.Register(() => Remove(subscription));
            return ReadAsync(subscription, registration, cancellation);
        }

        private void Remove(Subscription subscription)
        {
            lock (_subscriptions) _subscriptions.Remove(subscription);
            subscription.End();
        }

        private async IAsyncEnumerable<T> ReadAsync(
            Subscription subscription,
            CancellationTokenRegistration registration,
            CancellationToken cancellation,
            [EnumeratorCancellation] CancellationToken enumeration = default)
        {
            using CancellationTokenRegistration inner = enumeration.Register(() => Remove(subscription));
            try
            {
                while (await subscription.WaitAsync().ConfigureAwait(false))
                {
                    while (subscription.TryTake(out T item)) yield return item;
                }
                cancellation.ThrowIfCancellationRequested();
                enumeration.ThrowIfCancellationRequested();
            }
            finally
            {
                registration.Dispose();
                Remove(subscription);
            }
        }

        private sealed class Subscription
        {
            private readonly Queue<T> _items = new Queue<T>();
            private readonly bool _isConflated;
            private TaskCompletionSource<bool>? _waiting;
            private bool _isEnded;

            internal Subscription(bool isConflated) => _isConflated = isConflated;

            internal void Add(T item)
            {
                lock (_items)
                {
                    if (_isEnded) return;
                    if (_isConflated) _items.Clear();
                    _items.Enqueue(item);
                    _waiting?.TrySetResult(true);
                    _waiting = null;
                }
            }

            internal void End()
            {
                lock (_items)
                {
                    _isEnded = true;
                    _waiting?.TrySetResult(true);
                    _waiting = null;
                }
            }

            /// <summary>Waits for an item; false at the end.</summary>
            internal async Task<bool> WaitAsync()
            {
                for (;;)
                {
                    Task<bool> waiting;
                    lock (_items)
                    {
                        if (_items.Count > 0) return true;
                        if (_isEnded) return false;
                        // The reader continues on another thread than the one that adds.
                        _waiting ??= new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
                        waiting = _waiting.Task;
                    }
                    await waiting.ConfigureAwait(false);
                }
            }

            internal bool TryTake(out T item)
            {
                lock (_items)
                {
                    bool isFound = _items.Count > 0;
                    item = isFound ? _items.Dequeue() : default!;
                    return isFound;
                }
            }
        }
    }
}
