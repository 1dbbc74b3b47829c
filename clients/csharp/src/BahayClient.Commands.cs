#nullable enable

using System.Threading.Tasks;

namespace Bahay.Client
{
    // The player's commands. A command about the table may be given without a network: it is sent once the table is
    // joined again, if the table still expects it then.
    public sealed partial class BahayClient
    {
        /// <summary>Is ready for the game in preparation, and takes part in the deal by a drawn text.</summary>
        public Task<CommandOutcome> ReadyAsync() => ReadyAsync(new SeedChoice.Drawn());

        /// <summary>Is ready for the game in preparation.</summary>
        public Task<CommandOutcome> ReadyAsync(SeedChoice seed) => _driver.SendAsync(new PlayerWish.Ready(seed));

        /// <summary>
        /// Answers the prompt of a table as it was shown, with one of its actions. If another prompt is open meanwhile,
        /// nothing is sent, and the outcome is <see cref="CommandOutcome.Overtaken"/>.
        /// </summary>
        public Task<CommandOutcome> ActAsync(TableModel table, ActionModel action)
        {
            if (!(table.Prompt is { } prompt)) return Task.FromResult<CommandOutcome>(new CommandOutcome.Dropped());
            return _driver.SendAsync(new PlayerWish.Answer(prompt, action.Json));
        }

        /// <summary>Answers whichever prompt is open, by an action as JSON.</summary>
        /// <exception cref="ClientException.NotAnAction">The text is no action of the table's game.</exception>
        public Task<CommandOutcome> ActAsync(string action) => _driver.SendAsync(new PlayerWish.Act(action));

        /// <summary>Takes the seat back from the AI.</summary>
        public Task<CommandOutcome> TakeBackAsync() => _driver.SendAsync(new PlayerWish.TakeBack());

        /// <summary>Leaves the table.</summary>
        public Task<CommandOutcome> LeaveAsync() => _driver.SendAsync(new PlayerWish.Leave());

        /// <summary>Requests a bot's advice at a practice table, while a prompt is open.</summary>
        public Task<CommandOutcome> HintAsync() => _driver.SendAsync(new PlayerWish.Hint());

        /// <summary>Says a phrase in snake case, such as <c>good_luck</c>, now or never.</summary>
        /// <exception cref="ClientException.UnknownPhrase">There is no such phrase.</exception>
        public Task<CommandOutcome> SayAsync(string phrase) => _driver.SendAsync(new PlayerWish.Say(phrase));

        /// <summary>Seeks a table in one to eight rooms of one game. The client joins the table by itself.</summary>
        public Task<CommandOutcome> SeekAsync(params string[] rooms) => _driver.SendAsync(new PlayerWish.Seek(rooms));

        /// <summary>Ends the search for a table.</summary>
        public Task<CommandOutcome> CancelSeekAsync() => _driver.SendAsync(new PlayerWish.CancelSeek());

        /// <summary>Watches a table.</summary>
        /// <exception cref="ClientException.NotAnId">The text is no UUID.</exception>
        public Task<CommandOutcome> WatchAsync(string table) => _driver.SendAsync(new PlayerWish.Watch(table));

        /// <summary>Ends watching.</summary>
        public Task<CommandOutcome> UnwatchAsync() => _driver.SendAsync(new PlayerWish.Unwatch());
    }
}
