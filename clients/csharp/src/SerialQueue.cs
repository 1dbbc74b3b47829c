#nullable enable

using System;
using System.Collections.Generic;

namespace Bahay.Client
{
    /// <summary>
    /// Runs actions one after the other, on the thread that adds the first of them. An action that adds another one
    /// does not wait for it.
    /// </summary>
    internal sealed class SerialQueue
    {
        private readonly Queue<Action> _actions = new Queue<Action>();
        private readonly Action<Exception> _reportFault;
        private bool _isBusy;

        internal SerialQueue(Action<Exception> reportFault) => _reportFault = reportFault;

        /// <summary>Adds an action, and runs it now unless another thread runs the queue.</summary>
        internal void Add(Action action)
        {
            lock (_actions)
            {
                _actions.Enqueue(action);
                if (_isBusy) return;
                _isBusy = true;
            }
            while (Take() is { } next)
            {
                try
                {
                    next();
                }
                catch (Exception fault)
                {
                    _reportFault(fault);
                }
            }
        }

        /// <summary>Takes the next action; null once the queue is empty and no longer busy.</summary>
        private Action? Take()
        {
            lock (_actions)
            {
                if (_actions.Count > 0) return _actions.Dequeue();
                _isBusy = false;
                return null;
            }
        }
    }
}
